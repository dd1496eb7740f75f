#ifndef CCRYPT_H
#define CCRYPT_H

// The C library's password hash (crypt(3), libcrypt). Swift cannot import its structure, which holds an array of 30,720
// bytes; here it is plain memory.

#include <crypt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { CCRYPT_SETTING_SIZE = CRYPT_GENSALT_OUTPUT_SIZE, CCRYPT_HASH_SIZE = CRYPT_OUTPUT_SIZE };

/// Writes a setting of yescrypt with its default cost to `setting`, which has CCRYPT_SETTING_SIZE bytes.
/// Returns 0 if the library does not know yescrypt or there is too little randomness.
static inline int ccrypt_setting(const char *random, int count, char *setting) {
  return crypt_gensalt_rn("$y$", 0, random, count, setting, CCRYPT_SETTING_SIZE) != NULL;
}

/// Hashes a phrase as a setting, or an earlier hash, says; writes to `hash`, which has CCRYPT_HASH_SIZE bytes.
/// Returns 0 on failure. The memory that held the phrase is cleared.
static inline int ccrypt_hash(const char *phrase, const char *setting, char *hash) {
  struct crypt_data *data = (struct crypt_data *)calloc(1, sizeof *data);
  if (data == NULL) return 0;
  const char *made = crypt_rn(phrase, setting, data, (int)sizeof *data);
  if (made != NULL) strncpy(hash, made, CCRYPT_HASH_SIZE - 1), hash[CCRYPT_HASH_SIZE - 1] = 0;
  explicit_bzero(data, sizeof *data);
  free(data);
  return made != NULL;
}

/// Whether two pieces of memory are equal; takes the same time wherever they differ.
static inline int ccrypt_is_equal(const void *one, const void *other, size_t count) {
  const volatile unsigned char *a = (const volatile unsigned char *)one;
  const volatile unsigned char *b = (const volatile unsigned char *)other;
  unsigned char difference = 0;
  for (size_t i = 0; i < count; i++) difference |= a[i] ^ b[i];
  return difference == 0;
}

#endif
