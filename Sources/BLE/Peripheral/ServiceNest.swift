import BLEPackets

/// Finds the innermost service for handles that are asked for in ascending order. Services do not share attributes
/// (Core 5.4, Vol 3, Part G, 2.6.2), but some servers put included services in the middle of the one that includes
/// them.
struct ServiceNest {
    private let services: [Service]
    private var next = 0
    /// Those that have begun and not ended; the innermost one is the last.
    private var open: [Service] = []

    /// - Parameter services: in the order of their handles.
    init(_ services: [Service]) { self.services = services }

    /// Where the next service begins, after the handle that was asked for last.
    var nextStart: AttributeHandle? { next < services.count ? services[next].range.first : nil }

    /// - Parameter handle: not below the one before.
    mutating func innermost(at handle: AttributeHandle) -> Service? {
        while next < services.count, services[next].range.first <= handle {
            open.append(services[next])
            next += 1
        }
        while let last = open.last, last.range.last < handle { open.removeLast() }
        return open.last
    }
}
