/// The icon of a device by its appearance, as BlueZ 5.66 names it; names are those of the freedesktop icon theme.
enum DeviceIcon {
    /// - Returns: `nil` for kinds of devices that BlueZ gives no icon.
    static func name(of appearance: UInt16) -> String? {
        switch (appearance >> 6, appearance & 0x3F) {
        case (0x01, _): "phone"
        case (0x02, _): "computer"
        case (0x05, _): "video-display"
        case (0x0A, _): "multimedia-player"
        case (0x0B, _), (0x0F, 8): "scanner"
        case (0x0F, 1): "input-keyboard"
        case (0x0F, 2): "input-mouse"
        case (0x0F, 3), (0x0F, 4): "input-gaming"
        case (0x0F, 5): "input-tablet"
        default: nil
        }
    }
}
