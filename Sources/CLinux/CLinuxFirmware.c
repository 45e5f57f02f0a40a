#include <stdint.h>

// In small images, instead of the standard library's own function: no character of Unicode has a name. The table of the names
// is half a megabyte, and `Unicode.Scalar.Properties.name` alone reads it. Only Tools/Examples/image.ld refers to this.
intptr_t clinux_no_name(uint32_t character, uint8_t *name, intptr_t capacity) {
    (void)character, (void)name, (void)capacity;
    return 0;
}
