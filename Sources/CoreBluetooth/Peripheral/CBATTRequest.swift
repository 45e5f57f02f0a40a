import BLEAppLifecycle
import Foundation

/// A remote central wants to read or write a value (SPEC PER-13, PER-17).
open class CBATTRequest: NSObject {
    /// Of the request, or of the group of writes that it came with.
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

    /// Who asks.
    open var central: CBCentral { fixedCentral }

    /// What is asked for: the `CBMutableCharacteristic` that the app published.
    open var characteristic: CBCharacteristic { fixedCharacteristic }

    /// Where in the value the octets begin (SPEC PER-14).
    open var offset: Int { fixedOffset }

    /// What the central writes; for a read, what the app answers: the value from the offset on (SPEC PER-15).
    open var value: Data? {
        get { content.current }
        set { content.with { $0 = newValue } }
    }
}
