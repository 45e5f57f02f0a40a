import Glibc

/// An address of a host, in numbers.
struct NumericAddress {
    private let octets: [UInt8]

    /// - Parameter text: an IPv4 address, or an IPv6 address, perhaps with a scope (`fe80::1%eth0`).
    init?(_ text: String) {
        var octets = [UInt8](repeating: 0, count: 16)
        let withoutScope = String(text.prefix { $0 != "%" })
        if unsafe inet_pton(AF_INET, text, &octets) == 1 {
            self.octets = Array(octets[..<4])
        } else if unsafe inet_pton(AF_INET6, withoutScope, &octets) == 1 {
            self.octets = octets
        } else {
            return nil
        }
    }

    /// Whether only programs on this machine reach it.
    var isLoopback: Bool {
        octets.count == 4 ? octets[0] == 127 : octets.dropLast().allSatisfy { $0 == 0 } && octets.last == 1
    }
}
