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
            case .all: return .userChannel(adapter: try AdapterList.first().index)
            }
        }
    }

    /// As log lines name it.
    var name: String {
        switch self {
        case .transport(let address): "\(address)"
        case .address(let address): address.addressText
        case .all: "all"
        }
    }

    /// Its name as the name of a folder.
    var fileName: String {
        String(name.map { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." ? $0 : "_" }.drop { $0 == "." })
    }
}
