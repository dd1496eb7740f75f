#ifndef CSYSTEM_H
#define CSYSTEM_H

// The few Linux headers that Swift's Glibc module does not carry, and SHA-256.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/vfs.h>

#endif
