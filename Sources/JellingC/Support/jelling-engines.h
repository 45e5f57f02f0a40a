/* The engines that exist: who calls with another pointer, or while the engine is in use, gets an error. */
#ifndef JELLING_ENGINES_H
#define JELLING_ENGINES_H

#include "../include/jelling.h"

/* Makes an engine known, not in use: JELLING_OK or JELLING_ERROR_LIMIT. */
jelling_status jelling_engines_add(const void *engine);

/* Enters an engine for one call: JELLING_OK, JELLING_ERROR_ARGUMENT for NULL, JELLING_ERROR_ENGINE or
   JELLING_ERROR_BUSY. */
jelling_status jelling_engines_enter(const void *engine);

/* Releases an engine that was entered. */
void jelling_engines_leave(const void *engine);

/* Forgets an engine that was entered. */
void jelling_engines_remove(const void *engine);

#endif
