import Glibc

/// Standard input, or another descriptor, as it comes. A wait ends with the task that waits.
final class InputOctets: Sendable {
    private static let bufferByteCount = 65536

    private let descriptor: Int32

    init(descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// What has arrived, as soon as there is something; `nil` at the end of the input and when the task is cancelled.
    func next() async -> [UInt8]? {
        while await DescriptorWait.until(descriptor, POLLIN) {
            var chunk = [UInt8](repeating: 0, count: Self.bufferByteCount)
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return [UInt8](chunk[..<count]) }
            // A pseudo-terminal that its last program has closed reports EIO.
            if count == 0 || errno != EINTR && errno != EAGAIN { return nil }
        }
        return nil
    }
}
