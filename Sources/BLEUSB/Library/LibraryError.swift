/// Numbers that functions of libusb return.
enum LibraryError {
    static let inputOutput: Int32 = -1
    static let noDevice: Int32 = -4
    static let notFound: Int32 = -5
    static let busy: Int32 = -6
    static let interrupted: Int32 = -10
}
