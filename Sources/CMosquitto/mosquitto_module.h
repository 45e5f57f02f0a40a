/* libmosquitto-dev: the MQTT client library. */
#include <mosquitto.h>
