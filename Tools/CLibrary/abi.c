/* Prints the size of each structure of jelling.h, and where its last member is: a change breaks programs. */
#include <stddef.h>
#include <stdio.h>

#include "jelling.h"

#define SIZE(type, last) printf("%s %zu %zu\n", #type, sizeof(type), offsetof(type, last));

int main(void) {
    SIZE(jelling_bytes, length)
    SIZE(jelling_address, reserved)
    SIZE(jelling_uuid, reserved)
    SIZE(jelling_connection_parameters, reserved)
    SIZE(jelling_connection_request, supervision_timeout)
    SIZE(jelling_pairing_options, reserved)
    SIZE(jelling_security_settings, identity_resolving_key)
    SIZE(jelling_parameter_policy, reserved)
    SIZE(jelling_config, experience)
    SIZE(jelling_scan_request, accept_count)
    SIZE(jelling_pace, idle)
    SIZE(jelling_connect_request, parameter_policy)
    SIZE(jelling_advertise_request, target)
    SIZE(jelling_packed_advertisement, scan_response)
    SIZE(jelling_train, reserved)
    SIZE(jelling_set_request, maximum_events)
    SIZE(jelling_train_source, identifier)
    SIZE(jelling_subevent_data, data)
    SIZE(jelling_train_request, subevent_count)
    SIZE(jelling_train_response, data)
    SIZE(jelling_attribute_value, value)
    SIZE(jelling_descriptor_definition, value)
    SIZE(jelling_characteristic_definition, reserved)
    SIZE(jelling_service_definition, characteristic_count)
    SIZE(jelling_channel_settings, requires_authentication)
    SIZE(jelling_bond, identity)
    SIZE(jelling_out_of_band_data, local_public_key)
    SIZE(jelling_question, public_key)
    SIZE(jelling_service, is_primary)
    SIZE(jelling_include, reserved)
    SIZE(jelling_characteristic, properties)
    SIZE(jelling_descriptor, reserved)
    SIZE(jelling_published_characteristic, descriptors)
    SIZE(jelling_published_service, characteristics)
    SIZE(jelling_channel, reserved)
    SIZE(jelling_pairing_summary, reserved)
    SIZE(jelling_local_out_of_band_data, public_key)
    SIZE(jelling_data_length, receive_microseconds)
    SIZE(jelling_subrate_request, reserved)
    SIZE(jelling_path_loss_zones, reserved)
    SIZE(jelling_subrate, supervision_timeout)
    SIZE(jelling_transmit_power, reserved)
    SIZE(jelling_completion, hci)
    SIZE(jelling_controller, traits)
    SIZE(jelling_discovery, reserved2)
    SIZE(jelling_event, completed)
    SIZE(jelling_counters, data_buffer_overflows)
    return 0;
}
