import BLEChips
import BLEPackets

/// A serial port whose chip has to be started before it can be used: firmware, speed, address.
final class ChipTransport: HCITransport {
    /// A serial line that carries packets.
    protocol Line: HCITransport {
        /// Establishes a link anew, where there is one: the chip has started again.
        func restartLink()
    }

    let address: TransportAddress
    var prepared: () -> Void = {}
    private(set) var isPreparing = true
    var packetsLost: () -> Void = {}
    /// What became known of the chip while it was started.
    private(set) var chipInformation: ChipInformation?

    private let line: any Line
    private let setBaud: (UInt32) -> Bool
    private let readFile: ([String]) -> ChipFile?
    private var bringUp: ChipBringUp
    private var receive: ((RawSpan) -> Void)?
    private var closed: ((TransportError?) -> Void)?
    private var loop: EventLoop?
    private var deadline: EventLoop.Deadline?
    private var failure: TransportError?
    private var waitsForLink = false
    private var isWorking = false

    /// - Parameters:
    ///   - setBaud: changes the speed of the port; returns whether the port has it.
    ///   - readFile: reads the first of these files of firmware that is there.
    init(
        _ line: any Line, bringUp: ChipBringUp, setBaud: @escaping (UInt32) -> Bool,
        readFile: @escaping ([String]) -> ChipFile?
    ) {
        address = line.address
        self.line = line
        self.bringUp = bringUp
        self.setBaud = setBaud
        self.readFile = readFile
    }

    func start(
        on loop: EventLoop, receive: @escaping (RawSpan) -> Void, closed: @escaping (TransportError?) -> Void
    ) throws(TransportError) {
        self.loop = loop
        self.receive = receive
        self.closed = closed
        line.prepared = { [unowned self] in linkEstablished() }
        line.packetsLost = { [unowned self] in
            if !isPreparing { packetsLost() } else if waitsForLink { linkEstablished() }
        }
        try line.start(
            on: loop, receive: { [unowned self] in received($0) }, closed: { [unowned self] in lineClosed($0) })
        deadline = loop.makeDeadline { [unowned self] in
            work { $0.advance(to: $1) }
        }
        if line.isPreparing {
            waitsForLink = true
        } else {
            // Nothing may be called within `start`.
            loop.runLater { [weak self] in self?.work { $0.start(at: $1) } }
        }
    }

    func send(_ packet: RawSpan) { if !isPreparing { line.send(packet) } }

    func close() {
        end()
        line.close()
    }

    // MARK: The line

    private func linkEstablished() {
        guard waitsForLink else { return }
        waitsForLink = false
        hasStarted ? work { $0.carriedOut(at: $1) } : work { $0.start(at: $1) }
    }

    private var hasStarted = false

    private func received(_ packet: RawSpan) {
        guard isPreparing else {
            receive?(packet)
            return
        }
        guard let loop, failure == nil else { return }
        bringUp.receive(packet, at: loop.nowMicroseconds)
        // The line is in the middle of its work: what follows comes after it.
        loop.runLater { [weak self] in self?.carryOut() }
    }

    private func lineClosed(_ error: TransportError?) {
        end()
        closed?(error ?? failure)
        closed = nil
    }

    // MARK: Bringing up

    private func work(_ body: (inout ChipBringUp, UInt64) -> Void) {
        guard let loop, isPreparing, failure == nil else { return }
        hasStarted = true
        body(&bringUp, loop.nowMicroseconds)
        carryOut()
    }

    private func carryOut() {
        guard !isWorking, let loop else { return }
        isWorking = true
        defer { isWorking = false }
        while isPreparing, failure == nil, let action = bringUp.nextAction() {
            switch action {
            case .send(let packet): line.send(packet.span.bytes)
            case .setBaud(let baud):
                if setBaud(baud) {
                    bringUp.carriedOut(at: loop.nowMicroseconds)
                } else {
                    bringUp.fail(.unsupportedBaud(baud))
                }
            case .restartLink:
                waitsForLink = true
                line.restartLink()
                if !line.isPreparing, waitsForLink, !(line is ThreeWireTransport) {
                    waitsForLink = false
                    bringUp.carriedOut(at: loop.nowMicroseconds)
                }
            case .readFile(let names): bringUp.fileRead(readFile(names), at: loop.nowMicroseconds)
            case .done(let information):
                chipInformation = information
                isPreparing = false
                deadline?.clear()
                prepared()
                return
            case .failed(let chipFailure):
                failure = .chipFailed(chipFailure)
                // The line reports its end, and that becomes the failure's.
                line.close()
                return
            }
        }
        if let next = bringUp.nextDeadline {
            deadline?.set(atMicroseconds: next)
        } else {
            deadline?.clear()
        }
    }

    private func end() {
        receive = nil
        prepared = {}
        packetsLost = {}
        deadline?.cancel()
        deadline = nil
    }
}

extension StreamTransport: ChipTransport.Line {
    func restartLink() {}
}

extension ThreeWireTransport: ChipTransport.Line {}
