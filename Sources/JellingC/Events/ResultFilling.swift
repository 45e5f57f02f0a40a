import BLEHost
import BLEPackets
import CJelling

extension jelling_completion {
    fileprivate mutating func set(_ result: jelling_result) { unsafe self.result = result.rawValue }
}

/// Writes how an operation ended well as C has it.
func fill(_ completion: inout jelling_completion, with source: HostResult, _ arena: inout Arena) {
    switch source {
    case .done: unsafe completion.set(JELLING_RESULT_DONE)
    case .connected(let link):
        unsafe completion.set(JELLING_RESULT_CONNECTED)
        unsafe completion.link = link.number
    case .gatt(let result): unsafe fill(&completion, with: result, &arena)
    case .published(let service): unsafe fill(&completion, with: service, &arena)
    case .listening(let spsm):
        unsafe completion.set(JELLING_RESULT_LISTENING)
        unsafe completion.spsm = spsm
    case .channel(let channel):
        unsafe completion.set(JELLING_RESULT_CHANNEL)
        unsafe completion.channel = jelling_channel(channel)
    case .channels(let channels):
        unsafe completion.set(JELLING_RESULT_CHANNELS)
        let (items, count) = unsafe arena.copy(channels) { jelling_channel($0) }
        unsafe completion.channels.items = items
        unsafe completion.channels.count = count
    case .accepted(let isAccepted):
        unsafe completion.set(JELLING_RESULT_ACCEPTED)
        unsafe completion.is_accepted = isAccepted ? 1 : 0
    case .paired(let summary):
        unsafe completion.set(JELLING_RESULT_PAIRED)
        unsafe completion.paired = jelling_pairing_summary(summary)
    case .outOfBandData(let data):
        unsafe completion.set(JELLING_RESULT_OUT_OF_BAND)
        let parts = data.random.octets.reversed() + data.confirm.octets.reversed() + data.privateKey
        let octets = unsafe arena.copy(parts + data.publicKey.x + data.publicKey.y)
        guard unsafe octets.length == MemoryLayout<jelling_local_out_of_band_data>.size else { return }
        unsafe completion.out_of_band = UnsafeRawPointer(octets.data)?.assumingMemoryBound(
            to: jelling_local_out_of_band_data.self)
    case .rssi(let rssi):
        unsafe completion.set(JELLING_RESULT_RSSI)
        unsafe completion.rssi = Int32(rssi)
    case .remoteVersion(let version):
        unsafe completion.set(JELLING_RESULT_VERSION)
        unsafe completion.version.version = UInt16(version.version)
        unsafe completion.version.company = version.companyIdentifier
        unsafe completion.version.subversion = version.subversion
    case .remoteFeatures(let features):
        unsafe completion.set(JELLING_RESULT_FEATURES)
        unsafe completion.features = features.rawValue
    case .connectionParameters(let parameters):
        unsafe completion.set(JELLING_RESULT_PARAMETERS)
        unsafe completion.parameters = jelling_connection_parameters(parameters)
    case .dataLength(let length):
        unsafe completion.set(JELLING_RESULT_DATA_LENGTH)
        unsafe completion.data_length = jelling_data_length(length)
    case .phy(let transmit, let receive):
        unsafe completion.set(JELLING_RESULT_PHY)
        unsafe completion.phy.transmit = transmit.rawValue
        unsafe completion.phy.receive = receive.rawValue
    case .subrate(let subrate):
        unsafe completion.set(JELLING_RESULT_SUBRATE)
        unsafe completion.subrate = jelling_subrate(subrate)
    case .transmitPower(let power):
        unsafe completion.set(JELLING_RESULT_TRANSMIT_POWER)
        unsafe completion.transmit_power = jelling_transmit_power(power)
    case .hciAnswer(let octets):
        unsafe completion.set(JELLING_RESULT_HCI)
        unsafe completion.hci = arena.copy(octets)
    }
}

func fill(_ completion: inout jelling_completion, with source: GATTResult, _ arena: inout Arena) {
    guard Features.links else { return }
    switch source {
    case .mtu(let mtu):
        unsafe completion.set(JELLING_RESULT_MTU)
        unsafe completion.mtu = mtu
    case .services(let services):
        unsafe completion.set(JELLING_RESULT_SERVICES)
        let (items, count) = unsafe arena.copy(services) {
            jelling_service(
                uuid: jelling_uuid($0.uuid), handle: $0.range.first.rawValue, end_handle: $0.range.last.rawValue,
                is_primary: $0.isPrimary ? 1 : 0)
        }
        unsafe completion.services.items = items
        unsafe completion.services.count = count
    case .includedServices(let includes):
        unsafe completion.set(JELLING_RESULT_INCLUDES)
        let (items, count) = unsafe arena.copy(includes) {
            jelling_include(
                uuid: jelling_uuid($0.uuid), handle: $0.handle.rawValue, first_handle: $0.range.first.rawValue,
                last_handle: $0.range.last.rawValue, reserved: 0)
        }
        unsafe completion.includes.items = items
        unsafe completion.includes.count = count
    case .characteristics(let characteristics):
        unsafe completion.set(JELLING_RESULT_CHARACTERISTICS)
        let (items, count) = unsafe arena.copy(characteristics) {
            jelling_characteristic(
                uuid: jelling_uuid($0.uuid), handle: $0.handle.rawValue, value_handle: $0.valueHandle.rawValue,
                end_handle: $0.endHandle.rawValue, properties: UInt16($0.properties.rawValue))
        }
        unsafe completion.characteristics.items = items
        unsafe completion.characteristics.count = count
    case .descriptors(let descriptors):
        unsafe completion.set(JELLING_RESULT_DESCRIPTORS)
        let (items, count) = unsafe arena.copy(descriptors) {
            jelling_descriptor(uuid: jelling_uuid($0.uuid), handle: $0.handle.rawValue, reserved: 0)
        }
        unsafe completion.descriptors.items = items
        unsafe completion.descriptors.count = count
    case .value(let value):
        unsafe completion.set(JELLING_RESULT_VALUE)
        unsafe completion.value = arena.copy(value)
    case .values(let values):
        unsafe completion.set(JELLING_RESULT_VALUES)
        let (items, count) = unsafe arena.copyDeep(values) { unsafe $1.copy($0) }
        unsafe completion.values.items = items
        unsafe completion.values.count = count
    case .attributeValues(let values):
        unsafe completion.set(JELLING_RESULT_ATTRIBUTES)
        let (items, count) = unsafe arena.copyDeep(values) { value, arena in
            unsafe jelling_attribute_value(handle: value.handle.rawValue, value: arena.copy(value.value))
        }
        unsafe completion.attributes.items = items
        unsafe completion.attributes.count = count
    case .written, .subscribed, .unsubscribed, .confirmed: unsafe completion.set(JELLING_RESULT_DONE)
    }
}

private func fill(_ completion: inout jelling_completion, with service: GATTPublishedService, _ arena: inout Arena) {
    guard Features.server else { return }
    unsafe completion.set(JELLING_RESULT_PUBLISHED)
    let (items, count) = unsafe arena.copyDeep(service.characteristics) { characteristic, arena in
        let (descriptors, count) = unsafe arena.copy(characteristic.descriptors) { $0.rawValue }
        return unsafe jelling_published_characteristic(
            uuid: jelling_uuid(characteristic.uuid), handle: characteristic.declaration.rawValue,
            value_handle: characteristic.valueHandle.rawValue, configuration: characteristic.configuration.rawValue,
            descriptor_count: UInt16(clamping: count), descriptors: descriptors)
    }
    unsafe completion.published = jelling_published_service(
        uuid: jelling_uuid(service.uuid), handle: service.range.first.rawValue,
        end_handle: service.range.last.rawValue, characteristic_count: UInt32(clamping: count),
        characteristics: items)
}
