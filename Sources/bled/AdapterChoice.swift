import BLEPackets
import BLETransport

/// A value of `--adapter`.
enum AdapterChoice: Equatable {
    case transport(TransportAddress)
    /// The kernel's adapter with this address, whatever its index.
    case address(DeviceAddress)
    /// Every adapter of the kernel, also those that appear later.
    case all

    /// - Throws: `TransportError.invalidAddress`.
    init(_ text: String) throws(TransportError) {
        if text == "all" {
            self = .all
        } else if text.utf8.count == 17, let address = DeviceAddress(text + "/public") {
            self = .address(address)
        } else if text.hasPrefix("hci"), let address = try? TransportAddress("user:" + text.dropFirst(3)) {
            // As bletool and other programs call the kernel's adapters.
            self = .transport(address)
        } else {
            self = .transport(try TransportAddress(text))
        }
    }

    /// What to open first; an adapter that is not there yet is found by its address later.
    /// - Throws: `TransportError` if the kernel's adapters cannot be listed.
    var transport: TransportAddress {
        get throws(TransportError) {
            switch self {
            case .transport(let address): return address
            case .address(let address):
                let found = try AdapterList.adapters().first { $0.address == address }
                return .userChannel(adapter: found?.index ?? 0)
            // Whichever comes first.
            case .all: return .userChannel(adapter: 0)
            }
        }
    }

    var isTransport: Bool {
        if case .transport = self { true } else { false }
    }

    /// As log lines name it.
    var name: String {
        switch self {
        case .transport(let address): "\(address)"
        case .address(let address): address.addressText
        case .all: "all"
        }
    }

    /// The address of the kernel's adapter; `nil`: it is another transport, has no address, or is not there.
    var kernelAddress: DeviceAddress? {
        switch self {
        case .address(let address): return address
        case .transport(.userChannel(let index)):
            guard let address = try? AdapterList.adapter(index).address, address.value != 0 else { return nil }
            return address
        case .transport, .all: return nil
        }
    }
}
