#ifndef DISCOVERY_OUTPUT_H
#define DISCOVERY_OUTPUT_H

#include "../jelling-posix/include/jelling-posix.h"

/* Prints a device that was heard, with the keys of `bletool --json lescan`. */
void discovery_print(const jelling_discovery *discovery);

#endif
