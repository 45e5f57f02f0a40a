/* Pairing and bonds: the commands, and the questions of a pairing. */
#ifndef PAIRING_H
#define PAIRING_H

#include "gateway.h"

/* The commands of these names. */
void pair(struct gateway *gateway);
void unpair(struct gateway *gateway);
void bonds(struct gateway *gateway);

/* The peer needs an answer: prints the question, or answers it where `--yes` was given. */
void pairing_asked(struct gateway *gateway, const jelling_event *event);
/* The peer's user types the passkey that this prints. */
void pairing_shows_passkey(struct gateway *gateway, const jelling_event *event);
/* Prints a bond with the keys of `bletool --json bonds`. */
void bond_print(const jelling_bond *bond);

#endif
