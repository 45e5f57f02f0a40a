import CoreBluetooth
import Testing

@Suite("Values of Core Bluetooth")
struct ValueTests {
    @Test("a UUID is made of 4, 8 or 36 characters, and equality looks at the expanded value (SPEC MOD-9, 2.5)")
    func uuid() {
        let short = CBUUID(string: "180D")
        let long = CBUUID(string: "0000180d-0000-1000-8000-00805f9b34fb")
        #expect(short == long && short.hash == long.hash && CBUUID(string: "0000180D") == short)
        #expect(CBUUID(string: "0x180D") == short)
        #expect(short.uuidString == "180D" && long.uuidString == "180D")
        #expect(short.data == Data([0x18, 0x0D]))
        #expect(CBUUID(string: "12345678").data == Data([0x12, 0x34, 0x56, 0x78]))
        let custom = CBUUID(string: "71da3fd1-7e10-41c1-b16f-4430b506cde7")
        #expect(custom.uuidString == "71DA3FD1-7E10-41C1-B16F-4430B506CDE7")
        #expect(custom == CBUUID(data: custom.data) && custom.data.first == 0x71)
        #expect(CBUUID(nsuuid: UUID(uuidString: custom.uuidString)!) == custom)
        #expect(Set([short, long, custom]).count == 2)
        #expect(custom != short && !short.isEqual("180D"))
        #expect([CBUUID(string: "2A37"): 1][CBUUID(string: "2A37")] == 1)
    }

    @Test("text that is not a UUID ends the program (SPEC 2.5)", arguments: ["", "18", "0x18", "XYZW", "180D "])
    func badUUID(text: String) async {
        await #expect(processExitsWith: .failure) { [text] in _ = CBUUID(string: text) }
    }

    @Test("errors can be cast, matched, and taken for NSErrors, with a text for people (SPEC 2.1)")
    func errors() throws {
        let timeout: any Error = CBError(.connectionTimeout)
        #expect((timeout as? CBError)?.code == .connectionTimeout)
        #expect((timeout as NSError).domain == "CBErrorDomain" && (timeout as NSError).code == 6)
        #expect(timeout.localizedDescription == "The connection has timed out unexpectedly.")
        do { throw timeout } catch CBError.connectionTimeout {} catch { Issue.record(error) }
        let refused: any Error = CBATTError(.readNotPermitted)
        #expect((refused as? CBATTError)?.code == .readNotPermitted && refused as? CBError == nil)
        #expect(refused.localizedDescription == "Reading is not permitted.")
        #expect((refused as NSError).domain == CBATTErrorDomain && (refused as NSError).code == 2)
        #expect(
            CBError(.uuidNotAllowed).localizedDescription == "The specified UUID is not allowed for this operation.")
        let foreign: any Error = NSError(domain: CBATTErrorDomain, code: 3)
        #expect(CBATTError(foreign)?.code == .writeNotPermitted && CBError(foreign) == nil)
        do { throw foreign } catch CBATTError.writeNotPermitted {} catch { Issue.record(error) }
        #expect(CBATTError(NSError(domain: CBATTErrorDomain, code: 0x80))?.code.rawValue == 0x80)
    }

    @Test("a characteristic belongs to the service that it was given to last (SPEC MOD-11)")
    func reparenting() {
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A37"), properties: [.read, .notify], value: nil, permissions: .readable)
        let first = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        let second = CBMutableService(type: CBUUID(string: "180F"), primary: false)
        first.characteristics = [characteristic]
        #expect(characteristic.service === first && first.isPrimary)
        second.characteristics = [characteristic]
        #expect(characteristic.service === second && !second.isPrimary)
        second.characteristics = nil
        #expect(characteristic.service == nil && characteristic.subscribedCentrals == [])
        let text = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Beats")
        characteristic.descriptors = [text]
        #expect(text.characteristic === characteristic && text.value as? String == "Beats")
    }

    @Test("a descriptor that the system keeps itself cannot be made (SPEC 2.5)")
    func badDescriptor() async {
        await #expect(processExitsWith: .failure) {
            _ = CBMutableDescriptor(type: CBUUID(string: "2902"), value: Data([1, 0]))
        }
    }

    @Test("objects look in a log as they do on Apple's system")
    func descriptions() {
        let characteristic = CBMutableCharacteristic(
            type: CBUUID(string: "2A38"), properties: .read, value: Data([1, 255]), permissions: .readable)
        let service = CBMutableService(type: CBUUID(string: "180D"), primary: true)
        let text = CBMutableDescriptor(type: CBUUID(string: "2901"), value: "Beats")
        #expect(characteristic.description.hasPrefix("<CBMutableCharacteristic: 0x"))
        #expect(
            characteristic.description.hasSuffix(
                ", UUID = Body Sensor Location, properties = 0x2, value = {length = 2, bytes = 0x01ff}, notifying = NO>"
            ))
        characteristic.value = nil
        #expect("\(characteristic)".contains("value = (null)"))
        #expect("\(service)".hasPrefix("<CBMutableService: 0x"))
        #expect("\(service)".hasSuffix(", isPrimary = YES, UUID = Heart Rate>"))
        #expect("\(text)".hasSuffix(", UUID = Characteristic User Descriptor, value = Beats>"))
    }
}
