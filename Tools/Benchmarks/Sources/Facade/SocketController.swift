import BLEPackets
import BLESimulator
import Glibc

/// A controller at the other end of a Unix socket, on a thread of its own: what an app sees of it, it sees as of a real
/// one.
final class SocketController: @unchecked Sendable {
    // @unchecked Sendable holds because everything but the moments belongs to the one thread; the moments are written
    // there before the packet whose number they have, and read after it has arrived.
    let path: String
    private let flood: Int
    private let air = SimulatedAir()
    private let controller: SimulatedControllerID
    private var isScanning = false
    private var sent = 0
    /// How fast reports are sent; `nil`: as fast as they are taken.
    var reportsPerSecond: Int?
    private var scanBegan: UInt64 = 0
    /// When the notification with this number was written, in nanoseconds.
    let moments: UnsafeMutableBufferPointer<UInt64>

    /// - Parameters:
    ///   - flood: how many reports of 1,000 devices are sent once somebody scans; 0 for a simulated sensor instead.
    ///   - notifications: how many are remembered.
    init(path: String, flood: Int, notifications: Int) {
        self.path = path
        self.flood = flood
        moments = .allocate(capacity: notifications + 1)
        moments.initialize(repeating: 0)
        if flood == 0 {
            let value = SimulatedCharacteristic(
                BluetoothUUID(0x2A37 as UInt16), [.notify], value: [0, 0, 0, 0], notifyEveryMicroseconds: 1000,
                notifiedValue: { count in (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } })
            air.addPeripheral(
                SimulatedPeripheral(
                    name: "Bench", address: DeviceAddress(value: 0xC0DE_0000_0001, kind: .random),
                    services: [SimulatedService(BluetoothUUID(0x180D as UInt16), characteristics: [value])]))
        }
        controller = air.addController()
    }

    func start() {
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unlink(path)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0 && listen(listener, 1) == 0, "no socket at \(path)")
        let context = Unmanaged.passRetained(Start(self, listener))
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                start.controller.serve(accept(start.listener, nil, nil))
                return nil
            }, context.toOpaque())
    }

    private final class Start {
        let controller: SocketController
        let listener: Int32
        init(_ controller: SocketController, _ listener: Int32) {
            self.controller = controller
            self.listener = listener
        }
    }

    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: The thread

    private func serve(_ descriptor: Int32) {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        let epoch = Self.nanoseconds
        while true {
            let now = Int64((Self.nanoseconds - epoch) / 1000)
            air.advance(to: now)
            deliver(to: descriptor)
            if dueReports > 0 { sendReports(to: descriptor) }
            var waits: Int64 = 1_000_000
            if let next = air.nextDeadlineMicroseconds { waits = max(0, min(waits, next - now)) }
            if isScanning, sent < flood { waits = reportsPerSecond == nil ? 0 : 1000 }
            guard Self.isReadable(descriptor, within: waits) else { continue }
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return }
            received += buffer[..<count]
            while let length = Self.packetLength(received), received.count >= length {
                let packet = Array(received[..<length])
                received.removeFirst(length)
                if packet.starts(with: [0x01, 0x0C, 0x20]) || packet.starts(with: [0x01, 0x42, 0x20]) {
                    if scanBegan == 0, packet[4] == 1 { scanBegan = Self.nanoseconds }
                    isScanning = packet[4] == 1
                }
                air.send(packet.span.bytes, to: controller, at: Int64((Self.nanoseconds - epoch) / 1000))
            }
        }
    }

    /// Waits to the microsecond: a controller that spins would take the processor from what is measured.
    private static func isReadable(_ descriptor: Int32, within microseconds: Int64) -> Bool {
        var set = fd_set()
        withUnsafeMutableBytes(of: &set) { $0[Int(descriptor) / 8] |= 1 << UInt8(descriptor % 8) }
        var limit = timespec(tv_sec: Int(microseconds / 1_000_000), tv_nsec: Int(microseconds % 1_000_000) * 1000)
        return pselect(descriptor + 1, &set, nil, nil, &limit, nil) > 0
    }

    private static func packetLength(_ octets: [UInt8]) -> Int? {
        switch octets.first {
        case 0x01: octets.count > 3 ? 4 + Int(octets[3]) : nil
        case 0x02: octets.count > 4 ? 5 + Int(octets[3]) + Int(octets[4]) << 8 : nil
        default: nil
        }
    }

    private func deliver(to descriptor: Int32) {
        while let packet = air.nextPacket(from: controller) {
            if packet.count >= 16, packet[0] == 0x02, packet[9] == 0x1B {
                let number = Int(packet[12]) | Int(packet[13]) << 8 | Int(packet[14]) << 16
                if number < moments.count { moments[number] = Self.nanoseconds }
            }
            write(packet, to: descriptor)
        }
    }

    /// How many reports are to be sent now.
    private var dueReports: Int {
        guard isScanning, sent < flood else { return 0 }
        guard let reportsPerSecond else { return 64 }
        let due = Int(Double(Self.nanoseconds - scanBegan) / 1e9 * Double(reportsPerSecond)) - sent
        // What was missed while nobody scanned is not made up for.
        if due > 1000 { sent += due - 64 }
        return min(due, 64)
    }

    private func sendReports(to descriptor: Int32) {
        var batch: [UInt8] = []
        for _ in 0..<dueReports where sent < flood {
            let device = sent % 1000
            let data: [UInt8] =
                [0x02, 0x01, 0x06, 0x03, 0x03, 0x0D, 0x18, 0x09, 0x09] + Array("Sensor".utf8)
                + [UInt8(48 + device % 10), UInt8(48 + device / 10 % 10)]
            batch +=
                [0x04, 0x3E, UInt8(12 + data.count), 0x02, 0x01, 0x03, 0x01, UInt8(device & 0xFF), UInt8(device >> 8)]
                + [0x55, 0x44, 0x33, 0xC2, UInt8(data.count)] + data + [0xC8]
            sent += 1
        }
        write(batch, to: descriptor)
    }

    private func write(_ octets: [UInt8], to descriptor: Int32) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
