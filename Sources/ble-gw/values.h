/* Values of a device: reading, writing, subscribing and waiting for them. */
#ifndef VALUES_H
#define VALUES_H

#include "gateway.h"

/* The commands of these names. */
void read_command(struct gateway *gateway);
void write_command(struct gateway *gateway);
void subscribe_command(struct gateway *gateway);
void unsubscribe_command(struct gateway *gateway);
void wait_for_values(struct gateway *gateway);

/* A value that the device sends by itself. */
void notified(struct gateway *gateway, const jelling_event *event);

#endif
