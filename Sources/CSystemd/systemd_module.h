/* libsystemd-dev: sd-bus, the D-Bus library of systemd. */
#include <systemd/sd-bus.h>
