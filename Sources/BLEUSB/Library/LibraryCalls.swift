// The C functions of CUSB, declared by name: importing that module would make everyone who sees a module above this one
// ask for its module map.
//
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// Loads libusb. `nil`, or why it cannot be used.
@_extern(c) func cusb_load() -> UnsafePointer<CChar>?
@_extern(c) func cusb_error_name(_ error: Int32) -> UnsafePointer<CChar>

// MARK: A device

@_extern(c) func cusb_open(_ descriptor: Int32, _ device: UnsafeMutablePointer<OpaquePointer?>) -> Int32
@_extern(c) func cusb_close(_ device: OpaquePointer)
@_extern(c) func cusb_detach_kernel_driver(_ device: OpaquePointer, _ interface: Int32) -> Int32
@_extern(c) func cusb_attach_kernel_driver(_ device: OpaquePointer, _ interface: Int32) -> Int32
@_extern(c) func cusb_configuration(_ device: OpaquePointer, _ value: UnsafeMutablePointer<Int32>) -> Int32
@_extern(c) func cusb_set_configuration(_ device: OpaquePointer, _ value: Int32) -> Int32
@_extern(c) func cusb_claim(_ device: OpaquePointer, _ interface: Int32) -> Int32
@_extern(c) func cusb_release(_ device: OpaquePointer, _ interface: Int32) -> Int32
@_extern(c) func cusb_reset(_ device: OpaquePointer) -> Int32

// MARK: Events

@_extern(c) func cusb_watch(
    _ device: OpaquePointer, _ added: @convention(c) (Int32, Int16, UnsafeMutableRawPointer?) -> Void,
    _ removed: @convention(c) (Int32, UnsafeMutableRawPointer?) -> Void, _ user: UnsafeMutableRawPointer?
) -> Int32

@_extern(c) func cusb_handle_events(_ device: OpaquePointer, _ waitMilliseconds: Int32) -> Int32
@_extern(c) func cusb_next_timeout_microseconds(_ device: OpaquePointer) -> Int64
@_extern(c) func cusb_open_device_events() -> Int32

// MARK: Transfers

@_extern(c) func cusb_transfer_create(
    _ device: OpaquePointer, _ kind: Int32, _ endpoint: UInt8, _ capacity: Int, _ timeoutMilliseconds: UInt32,
    _ completed: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void, _ user: UnsafeMutableRawPointer?
) -> OpaquePointer?

@_extern(c) func cusb_transfer_destroy(_ transfer: OpaquePointer)
@_extern(c) func cusb_transfer_data(_ transfer: OpaquePointer) -> UnsafeMutablePointer<UInt8>?
@_extern(c) func cusb_transfer_submit(_ transfer: OpaquePointer, _ length: Int) -> Int32
@_extern(c) func cusb_transfer_cancel(_ transfer: OpaquePointer) -> Int32
@_extern(c) func cusb_transfer_status(_ transfer: OpaquePointer) -> Int32
@_extern(c) func cusb_transfer_length(_ transfer: OpaquePointer) -> Int
