import BLELinux
import Glibc

/// A pair of terminals inside the kernel: what the test holds, and the device that a transport opens.
final class PseudoTerminal {
    let controller: Int32
    let device: String
    /// Keeps the device's settings alive and shows them.
    let observer: Int32

    init() {
        controller = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var locked: Int32 = 0
        _ = unsafe ioctl(controller, 0x4004_5431, &locked)  // TIOCSPTLCK, a macro that Swift does not import
        var number: Int32 = -1
        _ = unsafe ioctl(controller, 0x8004_5430, &number)  // TIOCGPTN
        device = "/dev/pts/\(number)"
        observer = unsafe open(device, O_RDWR | O_NOCTTY | O_CLOEXEC)
    }

    deinit {
        close(observer)
        if !isHungUp { close(controller) }
    }

    private var isHungUp = false

    func hangUp() {
        isHungUp = true
        close(controller)
    }

    /// The settings that matter: line discipline and echo, speed, flow control.
    var settings: [UInt32] {
        var settings = termios()
        unsafe tcgetattr(observer, &settings)
        return unsafe [
            settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag, cfgetispeed(&settings),
            cfgetospeed(&settings),
        ]
    }

    /// Takes echo and translation away from the device, as nobody else has opened it yet.
    func makeRaw() {
        var settings = termios()
        unsafe tcgetattr(observer, &settings)
        unsafe cfmakeraw(&settings)
        unsafe tcsetattr(observer, TCSANOW, &settings)
    }

    /// The speed at which the device is now. The C library does not know every speed: the kernel's `struct termios2` has
    /// it at octet 40.
    var speed: UInt32 {
        var settings = CLinuxSerialSettings()
        guard unsafe clinux_serial_read_settings(observer, &settings) == 0 else { return 0 }
        return unsafe withUnsafeBytes(of: &settings) { unsafe $0.loadUnaligned(fromByteOffset: 40, as: UInt32.self) }
    }
}
