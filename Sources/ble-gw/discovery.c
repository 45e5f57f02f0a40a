/* Discovering everything that a device offers, one operation after another. */
#include "gateway.h"

static void next_service(struct gateway *gateway);
static void next_characteristic(struct gateway *gateway);

static int has_failed(struct gateway *gateway, const jelling_completion *completion) {
    if (!completion->failure) return 0;
    finish_with_failure(gateway, "discovery", completion);
    return 1;
}

static void got_descriptors(struct gateway *gateway, const jelling_completion *completion) {
    if (has_failed(gateway, completion)) return;
    struct service *service = &gateway->database.services[gateway->at_service];
    struct characteristic *characteristic = &service->characteristics[gateway->at_characteristic];
    database_set_descriptors(characteristic, completion->descriptors.items, completion->descriptors.count);
    gateway->at_characteristic++;
    next_characteristic(gateway);
}

static void next_characteristic(struct gateway *gateway) {
    struct service *service = &gateway->database.services[gateway->at_service];
    while (gateway->at_characteristic < service->characteristic_count) {
        jelling_characteristic *found = &service->characteristics[gateway->at_characteristic].found;
        if (found->value_handle < found->end_handle)
            return await(
                gateway,
                jelling_discover_descriptors(
                    gateway->engine, gateway->link, (uint16_t)(found->value_handle + 1), found->end_handle,
                    jelling_loop_now(), &gateway->operation),
                got_descriptors);
        gateway->at_characteristic++;
    }
    gateway->at_service++;
    next_service(gateway);
}

static void got_characteristics(struct gateway *gateway, const jelling_completion *completion) {
    if (has_failed(gateway, completion)) return;
    database_set_characteristics(
        &gateway->database.services[gateway->at_service], completion->characteristics.items,
        completion->characteristics.count);
    gateway->at_characteristic = 0;
    next_characteristic(gateway);
}

static void got_includes(struct gateway *gateway, const jelling_completion *completion) {
    if (has_failed(gateway, completion)) return;
    struct service *service = &gateway->database.services[gateway->at_service];
    database_set_includes(service, completion->includes.items, completion->includes.count);
    await(
        gateway,
        jelling_discover_characteristics(
            gateway->engine, gateway->link, service->found.handle, service->found.end_handle, NULL, 0,
            jelling_loop_now(), &gateway->operation),
        got_characteristics);
}

static void next_service(struct gateway *gateway) {
    if (gateway->at_service == gateway->database.service_count) {
        gateway->database.is_complete = 1;
        gateway->after_discovery(gateway, NULL);
        return;
    }
    jelling_service *found = &gateway->database.services[gateway->at_service].found;
    await(
        gateway,
        jelling_discover_included_services(
            gateway->engine, gateway->link, found->handle, found->end_handle, jelling_loop_now(),
            &gateway->operation),
        got_includes);
}

static void got_secondary_services(struct gateway *gateway, const jelling_completion *completion) {
    /* Some servers refuse what they have none of. */
    if (!completion->failure)
        database_add_services(&gateway->database, completion->services.items, completion->services.count);
    gateway->at_service = 0;
    next_service(gateway);
}

static void got_services(struct gateway *gateway, const jelling_completion *completion) {
    if (has_failed(gateway, completion)) return;
    database_add_services(&gateway->database, completion->services.items, completion->services.count);
    await(
        gateway,
        jelling_discover_secondary_services(
            gateway->engine, gateway->link, jelling_loop_now(), &gateway->operation),
        got_secondary_services);
}

void discover(struct gateway *gateway, step next) {
    if (gateway->database.is_complete) return next(gateway, NULL);
    database_clear(&gateway->database);
    gateway->after_discovery = next;
    await(
        gateway,
        jelling_discover_services(
            gateway->engine, gateway->link, NULL, 0, jelling_loop_now(), &gateway->operation),
        got_services);
}
