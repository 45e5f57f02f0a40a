import BLEPackets
import BLEText

extension BLEError: CustomStringConvertible {
    /// The cause, and after a semicolon the remedy, if one is known.
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What went wrong, without the remedy.
    public var cause: String {
        switch self {
        case .transport(let error): error.cause
        case .startupTimeout: "the controller did not become ready"
        case .closed: "the adapter has been closed"
        case .controllerLost: "the controller was lost while the operation ran"
        case .controllerUnresponsive:
            "the controller does not respond, even after a reset"
        case .controllerFault(let fault): fault.cause
        case .controllerRefused where needsResponseTrains:
            "the controller does not know periodic advertising with responses (Core 5.4)"
        case .controllerRefused(let status, let opcode):
            "the controller refused command \(hexadecimal(opcode.rawValue, digits: 4)): \(status.text)"
        case .commandTimeout(let opcode):
            "the controller did not answer command \(hexadecimal(opcode.rawValue, digits: 4))"
        case .procedureTimeout: "the controller did not report the end of the procedure"
        case .bondStore(let error): error.cause
        case .cancelled: "the operation was cancelled"
        case .timedOut(let limit): "nothing came of it within \(limit)"
        case .nameNotHeard(let name, let limit, let heard):
            "no device with the name \(name.quoted()) was heard within \(limit)"
                + (heard.isEmpty ? "" : ", but \(heard.map { $0.quoted() }.joined(separator: ", "))")
        case .invalidRequest(let reason): reason.text
        case .invalidParameters: "the parameters of the request contradict each other"
        case .valueTooLong(let limit): "the value is longer than \(limit) bytes"
        case .queueFull: "too many operations are waiting"
        case .limitReached: "too many links or operations at the same time, or too much data that waits for a device"
        case .publishing(let error): "the service cannot be published: \(error)"
        case .unexpectedResult(let result):
            "an operation ended with the result of another, \(result): this is a defect"
        case .noAddress: "the advertisement is anonymous"
        case .connectionFailed(let status): "the connection could not be made: \(status.text)"
        case .notConnected: "there is no link to the device"
        case .linkLost(let reason): "the link ended: \(reason)"
        case .bearerClosed: "the link no longer carries requests"
        case .parametersRejected: "the peer refused the connection parameters"
        case .security(let failure): failure.cause
        case .channel(let failure): failure.cause
        case .notFound(let uuid): "the peer has no attribute \(uuid)"
        case .notSubscribable(let uuid): "\(uuid) neither notifies nor indicates"
        case .notSubscribed: "there is no subscription to end"
        case .att(let error, let handle):
            "the device answered \(hexadecimal(error.rawValue, digits: 2)) (\(error.text)) for handle "
                + hexadecimal(handle.rawValue, digits: 4)
        case .invalidResponse(let detail): "the device sent an invalid response: \(detail)"
        case .transactionTimeout: "the device did not answer within 30 s, so the link was closed"
        case .reliableWriteMismatch(let handle):
            "the device received a different value for handle \(hexadecimal(handle.rawValue, digits: 4)), so "
                + "nothing was written"
        case .discoveryTooLong:
            "the device reports more attributes than any real device has, or too slowly"
        case .malformedValue(let uuid, let octets):
            "the value of \(uuid) does not have the format of its characteristic (\(octets.count) bytes)"
        case .unknownValue(let uuid): "the device does not know the value of \(uuid), or it is out of its range"
        }
    }

    /// What to do about it; `nil` if no remedy is known.
    public var remedy: String? {
        switch self {
        case .transport(let error): error.remedy
        case .startupTimeout: "check that a controller answers HCI commands there"
        case .controllerLost: "check its plug and its power, see ‘dmesg’, and try again when it is back"
        case .controllerUnresponsive: "unplug it or switch it off and on"
        case .controllerFault(let fault): fault.remedy
        case .controllerRefused where needsResponseTrains:
            "use a train without subevents, or a controller whose features name it (‘bletool info’)"
        case .bondStore(let error): error.remedy
        case .timedOut: "check that the device is switched on, in range and not connected elsewhere"
        case .nameNotHeard(let name, _, let heard):
            Suggestion(for: name, among: heard).word.map { "did you mean \($0.quoted())?" }
                ?? "check the name, and that the device is switched on, in range and not connected elsewhere"
        case .unexpectedResult: "please report it"
        case .invalidRequest(.notAvailableOnSharedController): "use a controller of your own (user:N)"
        case .noAddress: "wait for one with an address"
        case .notConnected: "connect first"
        case .security(let failure): failure.remedy
        case .channel(let failure): failure.remedy
        case .discoveryTooLong: "specify the service or the handle instead"
        default: nil
        }
    }

    /// Whether the controller refused a command of periodic advertising with responses because it does not know it.
    private var needsResponseTrains: Bool {
        guard case .controllerRefused(.unsupportedFeatureOrParameterValue, let opcode) = self else { return false }
        return opcode == LESetPeriodicAdvertisingParametersV2.opcode || opcode == LESetPeriodicSyncSubevent.opcode
    }
}
