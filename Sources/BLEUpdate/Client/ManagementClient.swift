import BLE
import BLEManagement
import Synchronization

/// A device's management service, which mcumgr's SMP offers: requests one at a time or beside each other, and uploads.
///
///     let management = try await ManagementClient(peripheral)
///     let answer = try await management.request(.write, group: 0, command: 0, content: .object(["d": .text("hello")]))
///
/// Requests may be made by several tasks. A request ends by its response, its timeout, or with the link.
public actor ManagementClient {
    /// The service of SMP over Bluetooth, and its characteristic (Zephyr, SMP Transport Specification).
    public static let service: BluetoothUUID = "8D53DC1D-1DB7-4CD3-868B-8A527460AA84"
    /// See `service`.
    public static let characteristic: BluetoothUUID = "DA2E7828-FBCE-4E01-AE9E-261174997C48"

    /// The device.
    public nonisolated let peripheral: Peripheral
    private let handle: AttributeHandle
    private var assembler = ManagementAssembler()
    private var waiting: [UInt8: CheckedContinuation<ManagementFrame, any Error>] = [:]
    private var upload: AsyncThrowingStream<[UInt8], any Error>.Continuation?
    private var reader: Task<Void, Never>?
    private var end: (any Error)?
    private var sequence: UInt8 = 0
    private var version: UInt8 = 1
    /// The longest frame that the device takes, if it says so.
    public private(set) var bufferByteCount: Int?
    /// How many frames it keeps.
    public private(set) var bufferCount: Int?

    /// Finds the service, subscribes, and asks for the size of the device's buffers.
    /// - Throws: `UpdateError.noManagementService` if the device does not have it; `BLEError`.
    public init(_ peripheral: Peripheral) async throws {
        let found: Characteristic
        do {
            found = try await peripheral.findCharacteristic(Self.characteristic, inService: Self.service)
        } catch BLEError.notFound { throw UpdateError.noManagementService }
        self.peripheral = peripheral
        handle = found.valueHandle
        let notifications = try await peripheral.notifications(of: found)
        reader = Task { [weak self] in
            do {
                for try await value in notifications { await self?.receive(value.bytes) }
                await self?.ended(BLEError.notConnected)
            } catch { await self?.ended(error) }
        }
        try await readBuffers()
    }

    deinit { reader?.cancel() }

    /// Ends the subscription. Requests that wait fail with `CancellationError`.
    public func close() {
        reader?.cancel()
        ended(CancellationError())
    }

    private func readBuffers() async throws {
        do {
            let answer = try await request(.read, group: 0, command: 6, timeout: .seconds(5))
            bufferByteCount = answer["buf_size"]?.integer.flatMap { $0 >= 32 ? $0 : nil }
            bufferCount = answer["buf_count"]?.integer.flatMap { $0 >= 1 ? $0 : nil }
        } catch UpdateError.management(let error) {
            // An old server refuses the version; others do not have the command.
            guard error.group == nil, error.code == 13, version != 0 else { return }
            version = 0
            try await readBuffers()
        } catch UpdateError.timedOut {
            // A server without the command may stay silent.
        }
    }

    private func receive(_ octets: [UInt8]) {
        if let upload {
            upload.yield(octets)
            return
        }
        // What is malformed answers nothing: the request's timeout ends it.
        guard let whole = try? assembler.add(octets), let frame = try? ManagementFrame(whole) else { return }
        guard frame.operation == .readResponse || frame.operation == .writeResponse else { return }
        waiting.removeValue(forKey: frame.sequence)?.resume(returning: frame)
    }

    private func ended(_ error: any Error) {
        end = end ?? error
        for (_, continuation) in waiting { continuation.resume(throwing: error) }
        waiting = [:]
        upload?.finish(throwing: error)
        upload = nil
    }

    private func give(up sequence: UInt8, _ error: any Error) {
        // The rest of a frame of which a piece was lost would spoil what comes next.
        if waiting[sequence] != nil { assembler.reset() }
        waiting.removeValue(forKey: sequence)?.resume(throwing: error)
    }

    /// The longest write in octets.
    private func writeLimit() async -> Int { await peripheral.maximumWriteLength(withResponse: false) }

    /// Sends a request and waits for its response.
    /// - Parameters:
    ///   - operation: `read` or `write`.
    ///   - timeout: how long the device may take.
    /// - Returns: the content of the response.
    /// - Throws: `UpdateError.management` with the device's error, `.timedOut`, `.invalidResponse`; `BLEError`.
    @discardableResult
    public func request(
        _ operation: ManagementFrame.Operation, group: UInt16, command: UInt8, content: CBORValue = .map([]),
        timeout: Duration = .seconds(10)
    ) async throws -> CBORValue {
        if let end { throw end }
        guard waiting.count < 200 else { throw BLEError.queueFull }
        while waiting[sequence] != nil { sequence &+= 1 }
        let number = sequence
        sequence &+= 1
        let frame = ManagementFrame(
            operation, group: group, command: command, sequence: number, version: version, content: content
        ).encoded
        let limit = await writeLimit()
        let timer = Task { [weak self] in
            do { try await Task.sleep(for: timeout) } catch { return }
            await self?.give(up: number, UpdateError.timedOut("a management request"))
        }
        defer { timer.cancel() }
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                waiting[number] = continuation
                Task {
                    do {
                        for start in stride(from: 0, to: frame.count, by: limit) {
                            try await peripheral.writeWithoutResponse(
                                Array(frame[start..<min(frame.count, start + limit)]), to: handle)
                        }
                    } catch { give(up: number, error) }
                }
            }
        } onCancel: {
            Task { await self.give(up: number, CancellationError()) }
        }
        guard response.group == group, response.command == command, response.operation == operation.response else {
            throw UpdateError.invalidResponse("the answer to another request")
        }
        if let error = ManagementError(in: response.content) { throw UpdateError.management(error) }
        return response.content
    }

    /// The longest frame to send: without a word of the device, one write; a short write forces frames of several.
    private func frameLimit(_ writeLimit: Int) -> Int {
        let whole = max(writeLimit, 128)
        return min(bufferByteCount ?? whole, whole)
    }

    /// Uploads octets in chunks, with several requests in flight, and goes on where the device says.
    /// - Parameters:
    ///   - first: what the request with offset 0 has besides: a length, and a hash by which the device recognises what it
    ///     has a part of already.
    ///   - members: what every request has besides.
    ///   - window: how many requests may be in flight; `nil` for one less than the device keeps.
    ///   - progress: called with the octets that the device has, and all.
    /// - Returns: the offset from which the device wanted it.
    @discardableResult
    public func upload(
        _ data: [UInt8], group: UInt16, command: UInt8, first: CBORValue, members: CBORValue = .map([]),
        window: Int? = nil, progress: @Sendable (_ done: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> Int {
        if let end { throw end }
        guard upload == nil, waiting.isEmpty else { throw BLEError.queueFull }
        let limit = await writeLimit()
        // A server answers from the same buffers.
        let most = window ?? max(1, min(16, (bufferCount ?? 2) - 1))
        let plan = ManagementUpload.Plan(
            group: group, command: command, data: data, firstMembers: first.members ?? [],
            members: members.members ?? [], version: version, frameLimit: frameLimit(limit), writeLimit: limit,
            window: most, sequence: sequence)
        let (values, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        upload = continuation
        defer {
            upload = nil
            sequence &+= 128
        }
        let runner = MachineRunner(peripheral: peripheral, control: nil, packet: handle, values: values)
        return try await runner.run(ManagementUpload(plan), progress: progress).resumedFrom
    }
}
