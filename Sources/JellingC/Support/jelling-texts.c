/* What statuses and failures mean, in English. */
#include "../include/jelling.h"

const char *jelling_status_text(int32_t status) {
    switch (status) {
    case JELLING_OK: return "no error";
    case JELLING_ERROR_ARGUMENT: return "an argument is missing or out of range";
    case JELLING_ERROR_ENGINE: return "there is no such engine";
    case JELLING_ERROR_BUSY: return "the engine is in use by another call";
    case JELLING_ERROR_LIMIT: return "there are too many engines";
    case JELLING_ERROR_FRAMING: return "the controller's byte stream is not H4; open the transport again";
    case JELLING_ERROR_UNSUPPORTED: return "this library was built without the feature";
    default: return "unknown status";
    }
}

static const char *security_text(uint32_t code) {
    switch (code) {
    case JELLING_SECURITY_REFUSED_BY_US: return "pairing failed: this side refused it";
    case JELLING_SECURITY_REFUSED_BY_PEER: return "pairing failed: the device refused it";
    case JELLING_SECURITY_TIMED_OUT: return "pairing timed out";
    case JELLING_SECURITY_KEY_MISSING_AT_PEER: return "the device has lost its bond; remove the bond here and pair again";
    case JELLING_SECURITY_ENCRYPTION_FAILED: return "the link could not be encrypted";
    case JELLING_SECURITY_WOULD_REPLACE_BOND: return "pairing would replace a bond; remove the bond first";
    case JELLING_SECURITY_KEY_TOO_WEAK: return "the key is weaker than required";
    case JELLING_SECURITY_NO_KEY: return "there is no bond with the device; pair first";
    case JELLING_SECURITY_NOT_AVAILABLE: return "pairing is not available: no cryptography, or a shared controller";
    case JELLING_SECURITY_ALREADY_PAIRING: return "pairing is already under way";
    case JELLING_SECURITY_REPEATED_ATTEMPTS: return "pairing failed a moment ago; wait before the next attempt";
    case JELLING_SECURITY_PASSKEY_IS_LOCKED: return "the fixed passkey is locked after too many failures";
    case JELLING_SECURITY_TOO_MANY_BONDS: return "there is no room for another bond; remove one";
    case JELLING_SECURITY_LINK_LOST: return "the link ended during pairing";
    case JELLING_SECURITY_CANCELLED: return "pairing was cancelled";
    default: return "the link could not be made secure";
    }
}

static const char *channel_text(uint32_t code) {
    switch (code) {
    case JELLING_CHANNEL_REFUSED: return "the device refused the channel";
    case JELLING_CHANNEL_INVALID_ANSWER: return "the device's answer about the channel is invalid";
    case JELLING_CHANNEL_NOT_OPEN: return "the channel is not open";
    case JELLING_CHANNEL_NO_RESOURCES: return "there is no room for another channel, or for more data on it";
    case JELLING_CHANNEL_UNIT_TOO_LONG: return "the data is longer than the device accepts";
    case JELLING_CHANNEL_INVALID_SPSM: return "the SPSM is in use, or not 0x0001 to 0x00FF";
    default: return "the channel failed";
    }
}

static const char *publish_text(uint32_t code) {
    switch (code) {
    case JELLING_PUBLISH_UUID_NOT_ALLOWED: return "a service with this UUID cannot be published";
    case JELLING_PUBLISH_PROPERTY_NOT_ALLOWED: return "a property of the characteristic cannot be set";
    case JELLING_PUBLISH_DESCRIPTOR_NOT_ALLOWED: return "the descriptor is added by the library";
    case JELLING_PUBLISH_VALUE_NOT_READ_ONLY: return "a characteristic with a fixed value must be read-only";
    case JELLING_PUBLISH_VALUE_TOO_LONG: return "a value has more than 512 octets";
    case JELLING_PUBLISH_INCLUDED_SERVICE_UNKNOWN: return "an included service is not published";
    case JELLING_PUBLISH_OUT_OF_HANDLES: return "there are no handles left";
    case JELLING_PUBLISH_UNKNOWN_SERVICE: return "there is no such service";
    case JELLING_PUBLISH_IS_INCLUDED: return "another service includes this one; remove that first";
    case JELLING_PUBLISH_HANDLES_OUT_OF_ORDER: return "handles are out of order";
    default: return "the service could not be published";
    }
}

static const char *request_text(uint32_t code) {
    switch (code) {
    case 1: return "the connection parameters contradict each other";
    case 2: return "the command has more than 255 octets of parameters";
    case 3: return "the engine has been stopped";
    case 4: return "this needs the controller for itself, which is shared here";
    case 5: return "the advertisement has more than 31 octets";
    case 7: return "the advertising set contradicts itself, or the controller's limits";
    case 8: return "the train cannot be followed or passed on";
    case 9: return "fewer than two channels would be left";
    case 10: return "the zones of path loss overlap";
    case 11: return "the subevents do not fit into the train, or their data into one command";
    default: return "the request is invalid";
    }
}

static const char *fault_text(uint32_t code) {
    switch (code) {
    case 1: return "the controller does not answer a command, also after every recovery; reset or replace it";
    case 2: return "the controller refuses a command without which it cannot be used";
    case 3: return "the controller reports nothing any more, also after every recovery; reset or replace it";
    case 4: return "the controller has no Bluetooth LE; use another one";
    case 5: return "the controller reports itself as the sender of everything; use another one";
    case 6: return "the controller acknowledges no data, also after every recovery; reset or replace it";
    case 8: return "the controller connects to nobody any more, also after every recovery; reset or replace it";
    case 9: return "the controller forgets its state again and again; reset or replace it";
    case 10: return "packets of the controller get lost again and again; check the line";
    default: return "the controller reports hardware errors, also after every recovery; reset or replace it";
    }
}

const char *jelling_failure_text(uint32_t failure, uint32_t code) {
    switch (failure) {
    case JELLING_FAILURE_NONE: return "no failure";
    case JELLING_FAILURE_CANCELLED: return "cancelled";
    case JELLING_FAILURE_CONTROLLER_LOST: return "the controller is not ready, or was lost";
    case JELLING_FAILURE_CONTROLLER_UNRESPONSIVE: return "the controller does not respond; reset or replace it";
    case JELLING_FAILURE_CONTROLLER_FAULT: return fault_text(code);
    case JELLING_FAILURE_CONTROLLER: return "the controller refused a command";
    case JELLING_FAILURE_COMMAND_TIMEOUT: return "the controller did not answer a command";
    case JELLING_FAILURE_LINK_LOST: return "the link ended";
    case JELLING_FAILURE_NOT_CONNECTED: return "not connected";
    case JELLING_FAILURE_CONNECTION_FAILED: return "the connection could not be made";
    case JELLING_FAILURE_ATT: return "the device's server refused";
    case JELLING_FAILURE_INVALID_RESPONSE: return "the device's response is invalid";
    case JELLING_FAILURE_TRANSACTION_TIMEOUT: return "the device did not respond for 30 s";
    case JELLING_FAILURE_BEARER_CLOSED: return "the device stopped responding earlier; connect again";
    case JELLING_FAILURE_VALUE_TOO_LONG: return "the value is too long";
    case JELLING_FAILURE_INVALID_PARAMETERS: return "the parameters are invalid";
    case JELLING_FAILURE_QUEUE_FULL: return "too many operations wait";
    case JELLING_FAILURE_RELIABLE_WRITE_MISMATCH: return "the device understood another value; nothing was written";
    case JELLING_FAILURE_DISCOVERY_TOO_LONG: return "the device's database is too large";
    case JELLING_FAILURE_NOT_SUBSCRIBED: return "not subscribed";
    case JELLING_FAILURE_SECURITY: return security_text(code);
    case JELLING_FAILURE_CHANNEL: return channel_text(code);
    case JELLING_FAILURE_PUBLISHING: return publish_text(code);
    case JELLING_FAILURE_INVALID_REQUEST: return request_text(code);
    case JELLING_FAILURE_PROCEDURE_TIMEOUT: return "the controller did not complete the procedure";
    case JELLING_FAILURE_REJECTED_BY_PEER: return "the device rejected the connection parameters";
    case JELLING_FAILURE_LIMIT_REACHED: return "a limit of the configuration is reached";
    default: return "unknown failure";
    }
}
