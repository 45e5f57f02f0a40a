/* Pairing and bonds: the commands, and the questions of a pairing. */
#include "pairing.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../jelling-posix/json-lines.h"

/* What a restart would undo is no success. 1 where it would. */
static int is_lost(struct gateway *gateway, const char *what) {
    const char *why = jelling_loop_state_error(gateway->loop);
    char message[320];
    if (!why) return 0;
    snprintf(message, sizeof message, "%s, but only until ble-gw ends: %s", what, why);
    finish_with_code(gateway, "stateUnusable", message);
    return 1;
}

static void paired(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "pair", completion);
    json_begin("paired");
    json_bool("secureConnections", completion->paired.is_secure_connections);
    json_bool("authenticated", completion->paired.is_authenticated);
    json_number("keySize", completion->paired.key_size);
    json_address("identity", &completion->paired.identity);
    if (completion->paired.was_bonded) json_bool("wasBonded", 1);
    json_end();
    if (!is_lost(gateway, "pair: the device is paired")) finish(gateway);
}

void pair(struct gateway *gateway) {
    jelling_pairing_options options = gateway->pairing;
    if (gateway->word_count > 1) {
        long passkey = six_digits(gateway->words[1]);
        if (passkey < 0) return finish_with_error(gateway, "usage: pair [PASSKEY], a number of six digits");
        options.passkey = (uint32_t)passkey;
        options.flags |= JELLING_PAIRING_HAS_PASSKEY;
    }
    await(
        gateway, jelling_pair(gateway->engine, gateway->link, &options, jelling_loop_now(), &gateway->operation), paired);
}

static void removed(struct gateway *gateway, const jelling_completion *completion) {
    if (completion->failure) return finish_with_failure(gateway, "unpair", completion);
    if (!completion->is_accepted) return finish_with_code(gateway, "noBond", "unpair: there is no bond with this device");
    if (is_lost(gateway, "unpair: the bond is removed")) return;
    json_begin("unpaired");
    json_address("identity", &gateway->wanted);
    json_end();
    finish(gateway);
}

void unpair(struct gateway *gateway) {
    if (gateway->word_count != 2 || jelling_parse_address(gateway->words[1], &gateway->wanted))
        return finish_with_error(gateway, "usage: unpair ADDRESS[/random]");
    await(
        gateway, jelling_remove_bond(gateway->engine, &gateway->wanted, jelling_loop_now(), &gateway->operation), removed);
}

void bond_print(const jelling_bond *bond) {
    json_begin("bond");
    json_bool("secureConnections", bond->is_secure_connections);
    json_bool("authenticated", bond->is_authenticated);
    json_number("keySize", bond->key_size);
    json_address("identity", &bond->identity);
    json_end();
}

void bonds(struct gateway *gateway) {
    jelling_bond bond;
    for (size_t index = 0; jelling_loop_bond(gateway->loop, index, &bond) == 0; index++) bond_print(&bond);
    finish(gateway);
}

static void number_event(const char *event, const char *key, uint32_t value, const jelling_address *peer) {
    char digits[12];
    snprintf(digits, sizeof digits, "%06u", value);
    json_begin(event);
    json_string(key, digits);
    json_address("address", peer);
    json_end();
}

void pairing_asked(struct gateway *gateway, const jelling_event *event) {
    int unread = 0;
    if (ioctl(STDIN_FILENO, FIONREAD, &unread) || unread < 0) unread = 0;
    gateway->written_ahead = gateway->lines_length + (size_t)unread;
    gateway->question = event->pairing_question.id;
    gateway->question_kind = event->pairing_question.kind;
    int is_compare = gateway->question_kind == JELLING_QUESTION_COMPARE;
    if (is_compare) number_event("comparison", "number", event->pairing_question.number, &gateway->peer);
    if (gateway->confirms && gateway->question_kind != JELLING_QUESTION_PASSKEY &&
        gateway->question_kind != JELLING_QUESTION_REPLACE_BOND) {
        jelling_answer_confirm(gateway->engine, gateway->question, 1, jelling_loop_now(), NULL);
        gateway->question = 0;
        return;
    }
    json_begin("question");
    json_string("kind", gateway->question_kind == JELLING_QUESTION_PASSKEY   ? "passkey"
                        : is_compare                                         ? "comparison"
                        : gateway->question_kind == JELLING_QUESTION_CONSENT ? "consent"
                                                                             : "replaceBond");
    json_end();
}

void pairing_shows_passkey(struct gateway *gateway, const jelling_event *event) {
    number_event("passkey", "passkey", event->value, &gateway->peer);
}
