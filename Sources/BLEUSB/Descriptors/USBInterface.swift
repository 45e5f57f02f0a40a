/// One setting of an interface, as its descriptor has it (USB 2.0, 9.6.5).
struct USBInterface: Hashable {
    let number: UInt8
    /// Which of its alternate settings this is.
    let setting: UInt8
    let kind: USBClass
    var endpoints: [USBEndpoint] = []

    /// The first endpoint of this kind and direction.
    func endpoint(_ kind: USBEndpoint.Kind, isInput: Bool) -> USBEndpoint? {
        endpoints.first { $0.kind == kind && $0.isInput == isInput }
    }
}
