import BLEAppLifecycle
import Foundation

/// A request of a remote central to read or write a value (SPEC PER-13, PER-17).
open class CBATTRequest: NSObject {
    /// The identifier of the request, or of its group of writes.
    let id: ATTRequestID
    let isRead: Bool
    private let content: Locked<Data?>

    init(
        id: ATTRequestID, isRead: Bool, central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?
    ) {
        self.id = id
        self.isRead = isRead
        fixedCentral = central
        fixedCharacteristic = characteristic
        fixedOffset = offset
        content = Locked(value)
        super.init()
    }

    private let fixedCentral: CBCentral
    private let fixedCharacteristic: CBCharacteristic
    private let fixedOffset: Int

    /// The central that sent the request.
    open var central: CBCentral { fixedCentral }

    /// The characteristic to read or write: the `CBMutableCharacteristic` that the app published.
    open var characteristic: CBCharacteristic { fixedCharacteristic }

    /// The offset in the value, in octets (SPEC PER-14).
    open var offset: Int { fixedOffset }

    /// For a write, the octets from the central. For a read, the app sets it to the value from the offset on (SPEC
    /// PER-15).
    open var value: Data? {
        get { content.current }
        set { content.with { $0 = newValue } }
    }
}
