#!/usr/bin/env python3
"""Alters the log of a library as somebody with a hex editor would, for tests of what finds it.

    alter_log.py LIBRARY erase N | flip N BYTE BIT | remove N | swap N M | rewrite N | redact | unredact

`rewrite` changes the payload of event N and recomputes every hash from there on, and the head with them: the log is sound
in itself, and only a checkpoint that was kept elsewhere shows it. `redact` alters what stands for the first payload that was
erased, `unredact` removes it.
"""

import sys

import cbor2
import lmdb

from verify_library import encode, sha


def key(number):
    return int(number).to_bytes(8, sys.byteorder)


def rewrite(transaction, events, commits, meta, first):
    """Recomputes everything from an event on, with one byte of its salt changed."""
    chain = bytes(32) if first == 1 else cbor2.loads(transaction.get(key(first - 1), db=events))[5]
    number = first
    while (record := transaction.get(key(number), db=events)) is not None:
        header, commitment, salt, payload, leaf, _ = cbor2.loads(record)
        if number == first:
            salt = bytes([salt[0] ^ 1]) + salt[1:]
            commitment = sha(salt, payload)
            leaf = sha(b"\x00", encode(header), commitment)
        chain = sha(b"\x02", chain, leaf)
        transaction.put(key(number), encode([header, commitment, salt, payload, leaf, chain]), db=events)
        if header[3]:
            row = cbor2.loads(transaction.get(key(header[1]), db=commits))
            transaction.put(key(header[1]), encode(row[:3] + [chain] + row[4:]), db=commits)
        number += 1
    head = cbor2.loads(transaction.get(b"head", db=meta))
    transaction.put(b"head", encode(head[:2] + [chain]), db=meta)


def main():
    library, operation, *operands = sys.argv[1:]
    numbers = [int(operand) for operand in operands]
    environment = lmdb.open(library + "/store", max_dbs=64, create=False, map_size=64 << 20)
    with environment.begin(write=True) as transaction:
        events = environment.open_db(b"events", txn=transaction, create=False, integerkey=True)
        commits = environment.open_db(b"commits", txn=transaction, create=False, integerkey=True)
        meta = environment.open_db(b"log.meta", txn=transaction, create=False)
        records = [transaction.get(key(number), db=events) for number in numbers]
        if operation == "erase":
            header, commitment, _, _, leaf, chain = cbor2.loads(records[0])
            erased = encode([header, commitment, None, None, leaf, chain])
            transaction.put(key(numbers[0]), erased, db=events)
        elif operation == "flip":
            altered = bytearray(records[0])
            altered[numbers[1] % len(altered)] ^= 1 << numbers[2]
            transaction.put(key(numbers[0]), bytes(altered), db=events)
        elif operation == "remove":
            transaction.delete(key(numbers[0]), db=events)
        elif operation == "swap":
            transaction.put(key(numbers[0]), records[1], db=events)
            transaction.put(key(numbers[1]), records[0], db=events)
        elif operation in ("redact", "unredact"):
            redactions = environment.open_db(b"redactions", txn=transaction, create=False, integerkey=True)
            cursor = transaction.cursor(redactions)
            if not cursor.first():
                sys.exit("nothing was erased")
            number, row = cursor.item()
            if operation == "unredact":
                transaction.delete(number, db=redactions)
            else:
                transaction.put(number, row[:-1] + bytes([row[-1] ^ 1]), db=redactions)
        elif operation == "rewrite":
            rewrite(transaction, events, commits, meta, numbers[0])
        else:
            sys.exit(f"{operation} is no alteration")
    environment.close()


if __name__ == "__main__":
    main()
