import BLE

extension TransportAddress {
    /// Whether it names one of the kernel's adapters.
    var leadsToKernel: Bool { kernelIndex != nil }

    /// The number of the kernel's adapter; `nil` for another transport.
    var kernelIndex: UInt16? {
        switch self {
        case .userChannel(let adapter), .rawChannel(let adapter): adapter
        default: nil
        }
    }

    /// Whether a file that the user names plays the controller.
    var isFile: Bool {
        switch self {
        case .simulator, .replay: true
        default: false
        }
    }

    /// The word before the colon.
    var scheme: String { String(description.prefix { $0 != ":" }) }

    /// What the adapter is called in what the tool prints: `hci0`, or the transport's address.
    var adapterName: String { kernelIndex.map { "hci\($0)" } ?? description }
}
