// The protocol engine: a value machine without I/O, clock or threads.
