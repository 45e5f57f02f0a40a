/* Each call of jelling.h, for attack.c, which has the arguments. */
/* Every function that takes an engine: `e`, a moment `t`, a link `l`, an operation `o`. */
#define CALLS(CALL)                                                                          \
    CALL(jelling_transport_closed(e, t))                                                     \
    CALL(jelling_receive(e, octets, 3, t))                                                   \
    CALL(jelling_receive_stream(e, octets, 0 + 1, t))                                        \
    CALL(jelling_advance(e, t))                                                              \
    CALL(jelling_scan(e, NULL, t, o))                                                        \
    CALL(jelling_change_scan(e, 77, NULL, t, o))                                             \
    CALL(jelling_connect(e, &connecting, t, o))                                              \
    CALL(jelling_disconnect(e, l, t, o))                                                     \
    CALL(jelling_cancel(e, 77, t, o))                                                        \
    CALL(jelling_classify_channels(e, 0x1F, t, o))                                       \
    CALL(jelling_hci_command(e, 0x1001, NULL, 0, t, o))                                      \
    CALL(jelling_advertise(e, NULL, t, o))                                                   \
    CALL(jelling_change_advertising(e, 77, NULL, t, o))                                      \
    CALL(jelling_advertise_set(e, &advertised_set, t, o))                                    \
    CALL(jelling_change_set(e, 77, &advertised_set, t, o))                                   \
    CALL(jelling_send_subevents(e, 77, &subevent, 1, t, o))                                  \
    CALL(jelling_follow_train(e, &followed, t, o))                                           \
    CALL(jelling_respond_in_train(e, 77, &response, t, o))                                   \
    CALL(jelling_receive_trains(e, l, NULL, t, o))                                           \
    CALL(jelling_transfer_train(e, 77, l, 0x1234, t, o))                                     \
    CALL(jelling_exchange_mtu(e, l, 0, t, o))                                                \
    CALL(jelling_discover_services(e, l, &uuid, 1, t, o))                                    \
    CALL(jelling_discover_secondary_services(e, l, t, o))                                    \
    CALL(jelling_discover_included_services(e, l, 1, 9, t, o))                               \
    CALL(jelling_discover_characteristics(e, l, 1, 9, NULL, 0, t, o))                        \
    CALL(jelling_discover_descriptors(e, l, 1, 9, t, o))                                     \
    CALL(jelling_read(e, l, 3, t, o))                                                        \
    CALL(jelling_read_long(e, l, 3, 5, t, o))                                                \
    CALL(jelling_read_by_uuid(e, l, &uuid, 1, 9, t, o))                                      \
    CALL(jelling_read_multiple(e, l, handles, 2, t, o))                                      \
    CALL(jelling_read_multiple_variable(e, l, handles, 2, t, o))                             \
    CALL(jelling_write(e, l, 3, octets, 4, t, o))                                            \
    CALL(jelling_write_long(e, l, 3, octets, 4, t, o))                                       \
    CALL(jelling_reliable_write(e, l, writes, 1, t, o))                                      \
    CALL(jelling_write_command(e, l, 3, octets, 4, t, o))                                    \
    CALL(jelling_write_signed(e, l, 3, octets, 4, t, o))                                     \
    CALL(jelling_subscribe(e, l, 3, 4, 0, t, o))                                             \
    CALL(jelling_unsubscribe(e, l, 3, t, o))                                                 \
    CALL(jelling_hold_indications(e, 0, t, o))                                               \
    CALL(jelling_read_rssi(e, l, t, o))                                                      \
    CALL(jelling_read_remote_version(e, l, t, o))                                            \
    CALL(jelling_read_remote_features(e, l, t, o))                                           \
    CALL(jelling_update_parameters(e, l, &parameters, t, o))                                 \
    CALL(jelling_set_data_length(e, l, 251, 2120, t, o))                                     \
    CALL(jelling_read_phy(e, l, t, o))                                                       \
    CALL(jelling_set_phy(e, l, 1, 1, t, o))                                                  \
    CALL(jelling_set_subrate(e, l, &subrate, t, o))                                      \
    CALL(jelling_read_transmit_power(e, l, 1, t, o))                                     \
    CALL(jelling_read_remote_transmit_power(e, l, 1, t, o))                              \
    CALL(jelling_report_transmit_power(e, l, 1, 1, t, o))                                \
    CALL(jelling_monitor_path_loss(e, l, &zones, t, o))                                  \
    CALL(jelling_set_authenticated_payload_timeout(e, l, 1000, t, o))                    \
    CALL(jelling_publish(e, &service, t, o))                                                 \
    CALL(jelling_remove_service(e, 900, t, o))                                               \
    CALL(jelling_disable_services(e, 0, t, o))                                               \
    CALL(jelling_set_device_name(e, "name", t, o))                                           \
    CALL(jelling_respond_value(e, 99, octets, 4, t, o))                                      \
    CALL(jelling_respond_written(e, 99, t, o))                                               \
    CALL(jelling_respond_error(e, 99, 0x80, t, o))                                           \
    CALL(jelling_update_value(e, 3, octets, 4, NULL, 0, t, o))                               \
    CALL(jelling_listen(e, 0, NULL, t, o))                                                   \
    CALL(jelling_stop_listening(e, 0x99, t, o))                                              \
    CALL(jelling_open_channel(e, l, 0x80, NULL, t, o))                                       \
    CALL(jelling_open_enhanced_channels(e, l, 0x80, NULL, 5, t, o))                          \
    CALL(jelling_reconfigure_channels(e, l, one_channel, 1, 512, 256, t, o))                 \
    CALL(jelling_channel_send(e, l, 1, octets, 4, t, o))                                     \
    CALL(jelling_channel_consume(e, l, 1, 1, t, o))                                          \
    CALL(jelling_close_channel(e, l, 1, t, o))                                               \
    CALL(jelling_pair(e, l, NULL, t, o))                                                     \
    CALL(jelling_answer_passkey(e, 99, 123456, t, o))                                        \
    CALL(jelling_answer_confirm(e, 99, 1, t, o))                                             \
    CALL(jelling_answer_cancel(e, 99, t, o))                                                 \
    CALL(jelling_unlock_passkey(e, t, o))                                                    \
    CALL(jelling_encrypt(e, l, t, o))                                                        \
    CALL(jelling_set_security(e, NULL, t, o))                                                \
    CALL(jelling_restore_bonds(e, NULL, 0, t, o))                                            \
    CALL(jelling_name_bond(e, &address, "name", t, o))                                       \
    CALL(jelling_remove_bond(e, &address, t, o))                                             \
    CALL(jelling_set_out_of_band_data(e, &address, &out_of_band, t, o))                      \
    CALL(jelling_create_out_of_band_data(e, t, o))                                           \
    CALL(jelling_answer(e, 99, octets, 16, t))                                               \
    CALL(jelling_answer_key_pair(e, 99, octets, octets, t))                                  \
    CALL(jelling_answer_failure(e, 99, 0, t))                                                \
    CALL(jelling_transport_opened(e, t))                                                     \
    CALL(jelling_stop(e, t, o))
/* Those without a moment. */
#define QUERIES(CALL)                                     \
    CALL(jelling_next_deadline(e, &deadline))             \
    CALL(jelling_set_client(e, 0))                        \
    CALL(jelling_is_ready(e, &is_ready))                  \
    CALL(jelling_pack_advertisement(e, NULL, &packed))    \
    CALL(jelling_next_question(e, &question))             \
    CALL(jelling_next_event(e, &event))                   \
    CALL(jelling_read_counters(e, &counters))             \
    CALL(jelling_drain(e, nothing, NULL))
