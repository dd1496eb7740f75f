#!/usr/bin/env python3
"""Verifies the log of a PhotoLedger library with nothing of PhotoLedger's.

    verify_library.py LIBRARY [--checkpoint FILE]... [--proof FILE]...

Needs Python 3.9 and the packages lmdb and cbor2. Everything here follows from StorageFormat.md and RFC 9162: the
deterministic encoding of every record, its commitment, leaf and chain, the numbers of events and commits, the tables
that are derived from the log, the Merkle root, checkpoints, proofs, and the names of the files of photos. Prints one
JSON object and exits with 0, or names the first difference on standard error and exits with 1.
"""

import argparse
import base64
import functools
import hashlib
import json
import pathlib
import sys

import cbor2
import lmdb

ZERO = bytes(32)


class Defect(Exception):
    """The first difference, and the event at which it is (None where there is no such)."""

    def __init__(self, event, what):
        super().__init__(what if event is None else f"event {event}: {what}")
        self.event = event


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def demand(condition, event, what):
    if not condition:
        raise Defect(event, what)


def encode(value):
    return cbor2.dumps(value, canonical=True)


def decode(data, event, what):
    """The value of deterministic CBOR: encoding it again must give the same bytes."""
    try:
        value = cbor2.loads(data)
        again = encode(value)
    except Exception as error:  # whatever a decoder throws at hostile bytes
        raise Defect(event, f"{what} cannot be decoded: {error}") from error
    demand(again == data, event, f"{what} is not deterministic CBOR")
    return value


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool)


class Tree:
    """RFC 9162, section 2.1, as the definitions stand there: recursive, over all leaves."""

    def __init__(self, leaves):
        self.leaves = leaves
        self.hash = functools.lru_cache(maxsize=None)(self._hash)

    @staticmethod
    def split(count):
        k = 1
        while 2 * k < count:
            k *= 2
        return k

    def _hash(self, low, high):
        if high - low == 0:
            return sha()
        if high - low == 1:
            return self.leaves[low]
        middle = low + self.split(high - low)
        return sha(b"\x01", self.hash(low, middle), self.hash(middle, high))

    def root(self, size):
        return self.hash(0, size)

    def path(self, m, low, high):
        """PATH(m, D[low:high]), 2.1.3.1."""
        if high - low == 1:
            return []
        k = self.split(high - low)
        if m < k:
            return self.path(m, low, low + k) + [self.hash(low + k, high)]
        return self.path(m - k, low + k, high) + [self.hash(low, low + k)]

    def subproof(self, m, low, high, known):
        """SUBPROOF(m, D[low:high], known), 2.1.4.1."""
        if m == high - low:
            return [] if known else [self.hash(low, high)]
        k = self.split(high - low)
        if m <= k:
            return self.subproof(m, low, low + k, known) + [self.hash(low + k, high)]
        return self.subproof(m - k, low + k, high, False) + [self.hash(low, low + k)]


class Library:
    """The databases of a store, read in one transaction that takes no lock."""

    INTEGER_KEYS = {"events", "commits", "redactions"}

    def __init__(self, path):
        self.path = pathlib.Path(path)
        environment = lmdb.open(str(self.path / "store"), readonly=True, lock=False, max_dbs=64, create=False)
        with environment.begin() as transaction:
            self.tables = {}
            for name in ("store.meta", "log.meta", "events", "commits", "keys", "redactions"):
                database = environment.open_db(
                    name.encode(), txn=transaction, create=False, integerkey=name in self.INTEGER_KEYS
                )
                self.tables[name] = list(transaction.cursor(database))
        environment.close()

    def numbered(self, name):
        return [(int.from_bytes(key, sys.byteorder), value) for key, value in self.tables[name]]


class Log:
    """The log, recomputed."""

    def __init__(self, library):
        self.erased = []
        self.erasing = {}
        self.leaves = []
        self.chains = [ZERO]
        self.commit_of = [0]
        self.records = []
        self.commits = {}
        self.keys = {}
        self.identifier = None
        self.open_commit = None
        for expected, (sequence, record) in enumerate(library.numbered("events"), 1):
            demand(sequence == expected, expected, "there is no such record")
            self.take(sequence, record)
        self.size = len(self.leaves)
        demand(self.open_commit is None, self.size, "the log ends inside a commit")
        self.check_tables(library)

    def take(self, sequence, record):
        items = decode(record, sequence, "the record")
        demand(isinstance(items, list) and len(items) == 6, sequence, "the record has not six parts")
        header, commitment, salt, payload, leaf, chain = items
        for digest in (commitment, leaf, chain):
            demand(isinstance(digest, bytes) and len(digest) == 32, sequence, "a digest has not 32 bytes")
        if salt is None and payload is None:
            self.erased.append(sequence)
        else:
            whole = isinstance(salt, bytes) and len(salt) == 16 and isinstance(payload, bytes)
            demand(whole, sequence, "salt and payload are neither whole nor erased")
            demand(sha(salt, payload) == commitment, sequence, "salt and payload do not give the commitment")
            value = decode(payload, sequence, "the payload")
            if sequence == 1:
                self.identifier = value[1]
            if isinstance(header, list) and len(header) == 8 and header[5] == "asset.erased":
                self.erasing[sequence] = value
        demand(sha(b"\x00", encode(header), commitment) == leaf, sequence, "header and commitment do not give the leaf")
        demand(sha(b"\x02", self.chains[-1], leaf) == chain, sequence, "the chain does not continue")
        self.take_header(sequence, header, chain)
        self.leaves.append(leaf)
        self.chains.append(chain)
        self.records.append(record)

    def take_header(self, sequence, header, chain):
        demand(isinstance(header, list) and len(header) == 8, sequence, "the header has not eight parts")
        number, commit, index, is_last, time, kind, version, information = header
        for value in (number, commit, index, time, version):
            demand(is_number(value), sequence, "a number of the header is none")
        demand(number == sequence, sequence, f"the record is that of event {number}")
        demand(isinstance(is_last, bool) and isinstance(kind, str), sequence, "the header is of other kinds")
        if self.open_commit is None:
            whole = isinstance(information, list) and len(information) == 6
            demand(whole, sequence, "the first event of a commit does not tell of it")
            self.open_commit = {"first": sequence, "count": 0, "time": time, "information": information}
        else:
            demand(information is None, sequence, "only the first event of a commit tells of it")
        current = self.open_commit
        expected = (self.commit_of[-1] + (1 if current["count"] == 0 else 0), current["count"])
        demand((commit, index) == expected, sequence, f"it is event {index} of commit {commit}, not {expected}")
        demand(time == current["time"], sequence, "its time is not that of its commit")
        current["count"] += 1
        self.commit_of.append(commit)
        if not is_last:
            return
        row = [current["first"], current["count"], current["time"], chain, current["information"]]
        self.commits[commit] = (encode(row), sequence)
        client, _, _, key = current["information"][:4]
        if key is not None:
            self.keys[self.stored_key(client, key)] = (encode(commit), sequence)
        self.open_commit = None

    @staticmethod
    def stored_key(client, key):
        text = client.encode() + b"\x00" + key.encode()
        return b"\x00" + text if len(text) <= 255 else b"\x01" + sha(text)

    def check_tables(self, library):
        head = {b"format": encode(1), b"head": encode([self.size, self.commit_of[-1], self.chains[-1]])}
        demand(dict(library.tables["log.meta"]) == head, None, "the stored head is not that of the last event")
        demand(dict(library.tables["store.meta"]) == {b"format": bytes(7) + b"\x07"}, None, "the format is not 7")
        self.check_redactions(library)
        for name, stored, wanted in (
            ("commits", dict(library.numbered("commits")), self.commits),
            ("keys", dict(library.tables["keys"]), self.keys),
        ):
            for key, (value, event) in wanted.items():
                demand(stored.get(key) == value, event, f"the table {name} does not follow from the events")
            demand(len(stored) == len(wanted), None, f"the table {name} has a row too many")


    def check_redactions(self, library):
        """What stands for an erased payload is what the newest event that brings something for it says."""
        wanted = {}
        for carrier in reversed(self.erasing_events()):
            value = self.erasing.get(carrier)
            if value is None:
                demand(carrier in wanted, carrier, "the payload was erased, and no later event brings another")
                value = decode(wanted[carrier][12:], carrier, "what stands for the payload")
            for sequence, version, payload in value.get(2, []):
                demand(sequence < carrier, carrier, "it brings something for a later event")
                row = carrier.to_bytes(8, "big") + version.to_bytes(4, "big") + payload
                wanted.setdefault(sequence, row)
        stored = dict(library.numbered("redactions"))
        for sequence, row in wanted.items():
            decode(row[12:], sequence, "what stands for the payload")
            demand(stored.get(sequence) == row, sequence, "the table redactions does not follow from the events")
        demand(len(stored) == len(wanted), None, "the table redactions has a row too many")
        for sequence in self.erased:
            demand(sequence in wanted, sequence, "the payload was erased, and nothing stands for it")

    def erasing_events(self):
        """The events that bring something for others, in their order, those among them that were erased too."""
        return [
            sequence
            for sequence, record in enumerate(self.records, 1)
            if decode(record, sequence, "the record")[0][5] == "asset.erased"
        ]


def check_checkpoint(log, tree, origin, path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    demand(len(lines) >= 8 and lines[6] == "" and lines[-1] == "", None, f"{path} is no checkpoint")
    demand(lines[0] == origin, None, f"{path} is of another log")
    size = int(lines[1])
    demand(0 < size <= log.size, None, f"{path} is of {size} events, the log has {log.size}")
    demand(base64.b64decode(lines[2], validate=True) == tree.root(size), None, f"{path} has another root")
    demand(lines[3] == f"commit {log.commit_of[size]}", None, f"{path} has another commit")
    demand(lines[4] == f"chain {log.chains[size].hex()}", None, f"{path} has another chain")
    demand(lines[5].startswith("time "), None, f"{path} has no time")


def check_proof(log, tree, origin, path):
    proof = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    demand(proof["origin"] == origin, None, f"{path} is of another log")
    demand(bytes.fromhex(proof["root"]) == tree.root(proof["size"]), None, f"{path} has another root")
    hashes = [bytes.fromhex(text) for text in proof["hashes"]]
    demand(bytes.fromhex(proof["firstRecord"]) == log.records[0], None, f"{path} has another first record")
    first = [bytes.fromhex(text) for text in proof["firstHashes"]]
    demand(first == tree.path(0, 0, proof["size"]), None, f"{path} has other hashes of the first record")
    if proof["proof"] == "inclusion":
        index = proof["sequence"] - 1
        demand(bytes.fromhex(proof["leaf"]) == log.leaves[index], None, f"{path} has another leaf")
        demand(hashes == tree.path(index, 0, proof["size"]), None, f"{path} has other hashes")
        if proof["record"] is not None:
            demand(bytes.fromhex(proof["record"]) == log.records[index], None, f"{path} has another record")
            before = cbor2.loads(log.records[index - 1])[5] if index > 0 else bytes(32)
            demand(bytes.fromhex(proof["chainBefore"]) == before, None, f"{path} has another chain before its record")
    else:
        earlier = proof["earlierSize"]
        demand(bytes.fromhex(proof["earlierRoot"]) == tree.root(earlier), None, f"{path} has another earlier root")
        demand(hashes == tree.subproof(earlier, 0, proof["size"], True), None, f"{path} has other hashes")


def check_files(path):
    """Every file under its final name has the SHA-256 of its content for a name."""
    count = 0
    for file in sorted((path / "resources").glob("[0-9a-f][0-9a-f]/*")):
        demand(
            hashlib.sha256(file.read_bytes()).hexdigest() == file.parent.name + file.name, None, f"{file} was altered"
        )
        count += 1
    return count


def verify(path, checkpoints=(), proofs=()):
    library = Library(path)
    log = Log(library)
    tree = Tree(log.leaves)
    text = log.identifier.hex().upper() if log.identifier else ""
    origin = "photoledger/" + "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
    for file in checkpoints:
        check_checkpoint(log, tree, origin, file)
    for file in proofs:
        check_proof(log, tree, origin, file)
    return {
        "origin": origin,
        "events": log.size,
        "erased": len(log.erased),
        "commits": len(log.commits),
        "keys": len(log.keys),
        "chain": log.chains[-1].hex(),
        "root": tree.root(log.size).hex(),
        "checkpoints": len(checkpoints),
        "proofs": len(proofs),
        "files": check_files(library.path),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("library")
    parser.add_argument("--checkpoint", action="append", default=[], metavar="FILE")
    parser.add_argument("--proof", action="append", default=[], metavar="FILE")
    arguments = parser.parse_args()
    try:
        print(json.dumps(verify(arguments.library, arguments.checkpoint, arguments.proof)))
    except (Defect, lmdb.Error, OSError, ValueError, KeyError) as error:
        print(f"{arguments.library} is not sound: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
