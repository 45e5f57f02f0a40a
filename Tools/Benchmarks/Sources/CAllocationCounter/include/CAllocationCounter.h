#ifndef C_ALLOCATION_COUNTER_H
#define C_ALLOCATION_COUNTER_H

#include <stdint.h>

/// How often memory was asked for since the process began, by whatever function of the C library, on any thread.
/// Growing a block counts; giving one back does not.
uint64_t allocation_counter_value(void);

/// What this process has allocated and not given back.
uint64_t allocation_counter_octets(void);

#endif
