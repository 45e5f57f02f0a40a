/* What centrals ask for: values, and being told of them. */
#ifndef REQUESTS_H
#define REQUESTS_H

#include "beacon.h"

/* JELLING_EVENT_SERVER_READ, _WRITE, _STORED, and those of subscriptions. */
void read_value(struct beacon *beacon, const jelling_event *event);
void write_values(struct beacon *beacon, const jelling_event *event);
void stored(struct beacon *beacon, const jelling_event *event);
void subscription(struct beacon *beacon, const jelling_event *event);

/* The link has ended: nobody waits for the answers to its reads any more. */
void forget_reads(struct beacon *beacon, jelling_link link);

/* What is broadcast before anyone has subscribed, and the first `notifyEvery`. 0: there are too many timers. */
int values_begin(struct beacon *beacon, struct served_characteristic *characteristic);

#endif
