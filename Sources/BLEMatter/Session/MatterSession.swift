import BLEGateway
import BLEHost
import BLEJSON
import BLEPackets

/// What a server has asked for since its Hello: a scan, links, and what is done on them.
///
/// Each command is answered once, unless the session ends before.
struct MatterSession {
    /// What comes of it.
    enum Output: Equatable {
        case text(JSONValue)
        case data([UInt8])
        case link(LinkRequest)
    }

    let limits: MatterLimits
    private(set) var counters = MatterCounters()
    private(set) var scan: MatterScan?
    /// In the order in which they began.
    var links: [MatterLink] = []
    private var outputs: [Output] = []
    /// The devices to which links may be, and when they were heard.
    private var devices: [UInt64: (address: DeviceAddress, heard: Instant)] = [:]
    private var isRadioUsable: Bool
    private var lastHandle: UInt16 = 0
    private var lastTag: UInt64 = 0

    init(_ limits: MatterLimits, isRadioUsable: Bool) {
        self.limits = limits
        self.isRadioUsable = isRadioUsable
    }

    mutating func drainOutputs() -> [Output] {
        defer { outputs = [] }
        return outputs
    }

    mutating func emit(_ output: Output) { outputs.append(output) }

    mutating func nextTag() -> UInt64 {
        lastTag += 1
        return lastTag
    }

    // MARK: Answers

    /// - Parameter id: the number of the command; `nil`: it has no answer.
    mutating func succeed(_ id: Int?, _ result: JSONValue = [:]) {
        guard let id else { return }
        emit(.text(["id": .integer(id), "success": true, "result": result]))
    }

    mutating func fail(_ id: Int?, _ failure: MatterFailure) {
        counters.failures += 1
        guard let id else { return }
        emit(
            .text([
                "id": .integer(id), "success": false, "error": .string(failure.word.rawValue),
                "message": .string(failure.message),
            ]))
    }

    mutating func report(_ event: String, _ data: JSONValue) {
        emit(.text(["event": .string(event), "data": data]))
    }

    // MARK: Messages of the server

    private static let textLimits: JSONReader.Limits = {
        var limits = JSONReader.Limits()
        limits.depth = 8
        limits.valueCount = 1000
        return limits
    }()

    mutating func received(text: [UInt8]) {
        guard let message = try? JSONReader.value(in: text, limits: Self.textLimits),
            case .integer(let id)? = message["id"], case .string(let name)? = message["command"]
        else {
            counters.malformedMessages += 1
            return
        }
        counters.commands += 1
        do throws(MatterFailure) {
            try perform(MatterCommand(name, MatterArguments(message["args"])), id)
        } catch {
            fail(id, error)
        }
    }

    mutating func received(data: [UInt8]) {
        guard let frame = MatterDataFrame(data), frame.kind == MatterDataFrame.Kind.write.rawValue else {
            counters.malformedMessages += 1
            return
        }
        // The link may have ended while the frame was on its way.
        guard let index = links.firstIndex(where: { $0.handle == frame.handle && $0.isConnected }) else { return }
        add(MatterLink.Command(id: nil, content: .data(frame.value)), index)
    }

    private mutating func perform(_ command: MatterCommand, _ id: Int) throws(MatterFailure) {
        switch command {
        case .startScan(let wanted):
            guard isRadioUsable else { throw MatterFailure(.bluetoothUnavailable, "no adapter of the gateway works") }
            guard scan == nil else { throw MatterFailure(.alreadyScanning, "a scan runs; stop it before") }
            scan = wanted
            succeed(id)
        case .stopScan:
            guard scan != nil else { throw MatterFailure(.notScanning, "no scan runs") }
            scan = nil
            succeed(id)
        case .connect(let address, let timeout): try connect(to: address, timeout, id)
        case .onLink(let handle, let command):
            guard let index = links.firstIndex(where: { $0.handle == handle && $0.isConnected }) else {
                throw MatterFailure(.notConnected, "no link has the handle \(handle)")
            }
            if command == .disconnect {
                disconnect(index, .ending(id))
            } else {
                add(MatterLink.Command(id: id, content: command), index)
            }
        }
    }

    // MARK: Devices

    /// - Parameter isCrowded: whether the server reads too slowly for what is not needed.
    mutating func heard(_ packet: MatterAdvertisement, isCrowded: Bool, at now: Instant) {
        guard let scan else { return }
        if packet.isOfMatter, packet.isConnectable { remember(packet.address, now) }
        guard scan.matches(packet) else { return }
        if isCrowded {
            counters.droppedDevices += 1
        } else if self.scan?.isNews(packet) == true {
            counters.devices += 1
            report("device_discovered", packet.report)
        }
    }

    private mutating func remember(_ address: DeviceAddress, _ now: Instant) {
        if devices[address.value] == nil, devices.count >= limits.devices,
            let oldest = devices.min(by: { ($0.value.heard, $0.key) < ($1.value.heard, $1.key) })
        {
            devices[oldest.key] = nil
        }
        devices[address.value] = (address, now)
    }

    /// Whether an adapter scans.
    mutating func setRadio(isUsable: Bool) {
        isRadioUsable = isUsable
        guard !isUsable, scan != nil else { return }
        scan = nil
        report("scan_stopped", ["reason": "adapter_off"])
    }

    // MARK: Links

    private mutating func connect(
        to address: UInt64, _ timeout: Microseconds, _ id: Int
    ) throws(MatterFailure) {
        guard !links.contains(where: { $0.peer.value == address }) else {
            throw MatterFailure(.alreadyConnected, "a link to the device is there, begins or ends")
        }
        // Nobody makes links to other devices through the gateway.
        guard let peer = devices[address]?.address else {
            throw MatterFailure(.deviceNotFound, "no scan of this session has found a Matter device of this address")
        }
        links.append(MatterLink(handle: nextHandle(), peer: peer, command: id))
        emit(.link(.connect(peer, timeout: timeout)))
    }

    private mutating func nextHandle() -> UInt16 {
        repeat {
            lastHandle = lastHandle == 0xFFFF ? 1 : lastHandle + 1
        } while links.contains {
            $0.handle == lastHandle
        }
        return lastHandle
    }

    /// Ends a link. The first command, if there is one, fails when its operation ends.
    mutating func disconnect(_ index: Int, _ phase: MatterLink.Phase) {
        links[index].phase = phase
        emit(.link(.disconnect(links[index].peer.value)))
    }

    /// The links have something for the session.
    mutating func received(_ event: LinkEvent) {
        switch event {
        case .connected(let address, let attMTU):
            guard let index = index(of: address), case .connecting(let id) = links[index].phase else { return }
            links[index].phase = .connected(attMTU: attMTU)
            succeed(id, ["connection_handle": .integer(Int(links[index].handle)), "mtu": .integer(attMTU)])
        case .connectionFailed(let address, let failure):
            guard let index = index(of: address), case .connecting(let id) = links[index].phase else { return }
            links.remove(at: index)
            fail(id, MatterFailure(connecting: failure))
        case .disconnected(let address, let reason):
            guard let index = index(of: address) else { return }
            ended(index, reason)
        case .ended(let tag, let address, let result):
            guard let index = index(of: address), links[index].step?.tag == tag else { return }
            finished(index, result)
        case .notified(let address, let handle, let value):
            guard let index = index(of: address) else { return }
            notified(links[index], handle, value)
        case .slots: break
        }
    }

    private func index(of address: UInt64) -> Int? { links.firstIndex { $0.peer.value == address } }

    private mutating func ended(_ index: Int, _ reason: UInt8) {
        let link = links.remove(at: index)
        for command in link.commands {
            fail(command.id, MatterFailure(.notConnected, "the link has ended"))
        }
        switch link.phase {
        case .ending(let id): succeed(id)
        case .connecting(let id): fail(id, MatterFailure(.connectionFailed, "the link was lost"))
        case .connected:
            let cause = "\(HCIStatus(rawValue: reason))"
            report(
                "disconnected", ["connection_handle": .integer(Int(link.handle)), "reason": .string(cause)])
        }
    }

    private mutating func notified(_ link: MatterLink, _ handle: AttributeHandle, _ value: [UInt8]) {
        if link.latest == handle {
            emit(.data(MatterDataFrame(.notification, link.handle, value).octets))
        } else if let subscription = link.subscriptions.first(where: { $0.value == handle }) {
            report(
                "characteristic_notification",
                [
                    "connection_handle": .integer(Int(link.handle)),
                    "characteristic_uuid": .string(subscription.uuid.matterText),
                    "value": .string(Base64.text(of: value)),
                ])
        }
    }
}

extension MatterFailure {
    /// - Parameter failure: why a link could not be established.
    init(connecting failure: LinkFailure) {
        switch failure {
        case .noAdapter: self.init(.bluetoothUnavailable, "no adapter of the gateway works")
        case .timedOut: self.init(.timeout, "the device did not answer in time")
        case .noSlot: self.init(.connectionFailed, "the gateway has no free slot for another link")
        case .inUse: self.init(.alreadyConnected, "another part of the gateway has a link to the device")
        case .connectionFailed, .linkLost, .att, .cancelled, .notConnected, .tooManyOperations, .other:
            self.init(.connectionFailed, failure.text)
        }
    }

    /// - Parameter failure: why an operation failed.
    init(_ word: Word, _ failure: LinkFailure) { self.init(word, failure.text) }
}

extension LinkFailure {
    fileprivate var text: String {
        switch self {
        case .noSlot: "there is no free slot"
        case .inUse: "another part of the gateway has a link to the device"
        case .noAdapter: "no adapter works"
        case .notConnected: "there is no link"
        case .tooManyOperations: "too many operations wait"
        case .timedOut: "the device did not answer in time"
        case .cancelled: "it was cancelled"
        case .linkLost(let reason): "the link was lost: \(HCIStatus(rawValue: reason))"
        case .connectionFailed(let status): "no link could be made: \(HCIStatus(rawValue: status))"
        case .att(let error): "the device refused it: \(ATTError(rawValue: error))"
        case .other(_, let text): text
        }
    }
}
