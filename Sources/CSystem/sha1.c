// SHA-1 (FIPS 180-4), twice, as SHA-256 is: in portable C, and with the SHA instructions of x86-64 where the processor
// has them. SHA-1 proves nothing any more, since two files with one SHA-1 can be made; it is recorded beside the
// SHA-256 because other programs name files by it. The portable path is the reference of the tests.

#include "CSystem.h"

#include <string.h>

static inline uint32_t rotated(uint32_t x, int n) { return x << n | x >> (32 - n); }

static void compress_portable(uint32_t state[5], const uint8_t *data, size_t blocks) {
  for (; blocks > 0; blocks--, data += 64) {
    uint32_t w[80];
    for (int i = 0; i < 16; i++)
      w[i] = (uint32_t)data[4 * i] << 24 | (uint32_t)data[4 * i + 1] << 16 | (uint32_t)data[4 * i + 2] << 8 |
             (uint32_t)data[4 * i + 3];
    for (int i = 16; i < 80; i++) w[i] = rotated(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 80; i++) {
      uint32_t f, k;
      if (i < 20)
        f = (b & c) | (~b & d), k = 0x5a827999;
      else if (i < 40)
        f = b ^ c ^ d, k = 0x6ed9eba1;
      else if (i < 60)
        f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
      else
        f = b ^ c ^ d, k = 0xca62c1d6;
      uint32_t next = rotated(a, 5) + f + e + k + w[i];
      e = d, d = c, c = rotated(b, 30), b = a, a = next;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
  }
}

#if defined(__x86_64__)
#include "rounds.h"

SHA_INSTRUCTIONS static void compress_accelerated(uint32_t state[5], const uint8_t *data, size_t blocks) {
  sha1_rounds rounds = sha1_opened(state);
  for (; blocks > 0; blocks--, data += 64) {
    const sha1_rounds before = rounds;
#pragma clang loop unroll(full)
    for (int i = 0; i < 20; i++) sha1_four(&rounds, data, i);
    sha1_add(&rounds, &before);
  }
  sha1_closed(&rounds, state);
}

// Both hashes of the same blocks.
SHA_INSTRUCTIONS static void compress_both(
    uint32_t sha256[8], uint32_t sha1[5], const uint8_t *data, size_t blocks) {
  sha256_rounds long_rounds = sha256_opened(sha256);
  sha1_rounds short_rounds = sha1_opened(sha1);
  for (; blocks > 0; blocks--, data += 64) {
    const sha256_rounds long_before = long_rounds;
    const sha1_rounds short_before = short_rounds;
#pragma clang loop unroll(full)
    for (int i = 0; i < 20; i++) {
      if (i < 16) sha256_four(&long_rounds, data, i);
      sha1_four(&short_rounds, data, i);
    }
    sha256_add(&long_rounds, &long_before);
    sha1_add(&short_rounds, &short_before);
  }
  sha256_closed(&long_rounds, sha256);
  sha1_closed(&short_rounds, sha1);
}
#else
static void compress_accelerated(uint32_t state[5], const uint8_t *data, size_t blocks) {
  compress_portable(state, data, blocks);
}
#endif

static void compress(psys_sha1 *context, const uint8_t *data, size_t blocks) {
  if (!context->portable && psys_sha256_is_accelerated())
    compress_accelerated(context->state, data, blocks);
  else
    compress_portable(context->state, data, blocks);
}

void psys_sha1_init(psys_sha1 *context) {
  static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  memcpy(context->state, initial, sizeof initial);
  context->length = 0;
  context->portable = 0;
}

void psys_sha1_init_portable(psys_sha1 *context) {
  psys_sha1_init(context);
  context->portable = 1;
}

void psys_sha1_update(psys_sha1 *context, const void *bytes, size_t count) {
  if (count == 0) return;
  const uint8_t *data = bytes;
  size_t held = context->length % 64;
  context->length += count;
  if (held > 0) {
    size_t room = 64 - held, taken = count < room ? count : room;
    memcpy(context->buffer + held, data, taken);
    if (taken < room) return;
    compress(context, context->buffer, 1);
    data += taken, count -= taken;
  }
  if (count >= 64) compress(context, data, count / 64);
  memcpy(context->buffer, data + count / 64 * 64, count % 64);
}

void psys_sha1_final(psys_sha1 *context, uint8_t *digest) {
  size_t held = context->length % 64;
  uint64_t bits = context->length * 8;
  context->buffer[held++] = 0x80;
  if (held > 56) {
    memset(context->buffer + held, 0, 64 - held);
    compress(context, context->buffer, 1);
    held = 0;
  }
  memset(context->buffer + held, 0, 56 - held);
  for (int i = 0; i < 8; i++) context->buffer[56 + i] = (uint8_t)(bits >> (56 - 8 * i));
  compress(context, context->buffer, 1);
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 4; j++) digest[4 * i + j] = (uint8_t)(context->state[i] >> (24 - 8 * j));
}

void psys_both_update(psys_sha256 *sha256, psys_sha1 *sha1, const void *bytes, size_t count) {
  const uint8_t *data = bytes;
#if defined(__x86_64__)
  // From where both begin a block.
  size_t head = (64 - sha1->length % 64) % 64;
  int accelerated = psys_sha256_is_accelerated() && !sha256->portable && !sha1->portable;
  if (accelerated && sha256->length == sha1->length && count >= head + 64) {
    psys_sha256_update(sha256, data, head);
    psys_sha1_update(sha1, data, head);
    size_t blocks = (count - head) / 64;
    compress_both(sha256->state, sha1->state, data + head, blocks);
    sha256->length += blocks * 64;
    sha1->length += blocks * 64;
    data += head + blocks * 64;
    count -= head + blocks * 64;
  }
#endif
  psys_sha256_update(sha256, data, count);
  psys_sha1_update(sha1, data, count);
}
