import BLE
import Testing

@testable import bletool

@Suite("Profiles")
struct ServedProfileTests {
    private func profile(_ text: String) throws -> ServedProfile { try ServedProfile(Array(text.utf8)) }

    @Test("every key of the contract is read; the names are Core Bluetooth's")
    func everything() throws {
        let profile = try profile(
            """
            {"services":[{"uuid":"180D","primary":false,"includes":[],"characteristics":[{"uuid":"2A37",
            "properties":["read","notify"],"permissions":["readEncryptionRequired"],"value":"0040","notifyEvery":0.5,"answerAfter":29,
            "descriptors":[{"uuid":"2901","value":"7075"}]}]}]}
            """)
        let service = try #require(profile.services.first)
        #expect(!service.isPrimary)
        let characteristic = try #require(service.characteristics.first)
        #expect(characteristic.properties == [.read, .notify])
        #expect(characteristic.permissions == .readEncryption)
        #expect(characteristic.value == [0x00, 0x40])
        #expect(characteristic.notifyEvery == .milliseconds(500))
        #expect(characteristic.answerAfter == .seconds(29))
        #expect(characteristic.descriptors.map(\.value) == [[0x70, 0x75]])
    }

    @Test(
        "without permissions a value is open to what its properties promise (SPEC PER-2)",
        arguments: [
            (#""read""#, AttributePermissions.readable), (#""write""#, AttributePermissions.writeable),
            (#""writeWithoutResponse""#, AttributePermissions.writeable),
            (#""read","write""#, AttributePermissions([.readable, .writeable])), (#""notify""#, AttributePermissions()),
        ] as [(String, AttributePermissions)])
    func usualPermissions(_ properties: String, _ expected: AttributePermissions) throws {
        let profile = try profile(
            #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":[\#(properties)]}]}]}"#)
        #expect(profile.services.first?.characteristics.first?.permissions == expected)
    }

    @Test("a service comes after those that it includes, whatever the order of the file")
    func includes() throws {
        let profile = try profile(#"{"services":[{"uuid":"180D","includes":["180F"]},{"uuid":"180F"}]}"#)
        #expect(profile.services.map(\.uuid) == [BluetoothUUID(UInt16(0x180F)), BluetoothUUID(UInt16(0x180D))])
    }

    @Test("encryption can be asked for subscriptions (SPEC SEC-1)")
    func encryptedSubscription() throws {
        let profile = try profile(
            #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["notifyEncryptionRequired"]}]}]}"#
        )
        let definition = try #require(profile.services.first?.definition(including: []).characteristics.first)
        #expect(definition.properties == .notify)
        #expect(definition.needsEncryptionToSubscribe)
    }

    @Test(
        "errors name the place, as wrong usage",
        arguments: [
            ("nonsense", "line 1"), (#"{"services":[{"uuid":"no"}]}"#, "services[0].uuid"),
            (#"{"services":[{}]}"#, "services[0].uuid"), (#"{"service":[]}"#, "‘service’"),
            (#"{"services":[{"uuid":"180D","includes":["180D"]}]}"#, "services[0].includes"),
            (
                #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","value":"0"}]}]}"#,
                "characteristics[0].value"
            ),
            (
                #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["fly"]}]}]}"#,
                "characteristics[0].properties"
            ),
            (
                #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","notifyEvery":1}]}]}"#,
                "characteristics[0].notifyEvery"
            ),
            (
                #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","properties":["notify"],"answerAfter":1}]}]}"#,
                "characteristics[0].answerAfter"
            ),
            (
                #"{"services":[{"uuid":"180D","characteristics":[{"uuid":"2A37","answerAfter":30}]}]}"#,
                "characteristics[0].answerAfter"
            ),
        ])
    func mistakes(_ text: String, _ place: String) {
        do {
            _ = try profile(text)
            Issue.record("parsed")
        } catch let failure as Failure {
            #expect(failure.status == .usage)
            #expect(failure.message.contains(place), "\(failure.message)")
        } catch {
            Issue.record("\(error)")
        }
    }
}

@Suite("Served values")
struct ServedValuesTests {
    private let handle = AttributeHandle(rawValue: 3)
    private let other = AttributeHandle(rawValue: 5)

    private var values: ServedValues {
        var values = ServedValues()
        values[handle] = ServedValues.Entry(uuid: BluetoothUUID(UInt16(0x2A37)), octets: [1, 2, 3], isSent: true)
        values[other] = ServedValues.Entry(uuid: BluetoothUUID(UInt16(0x2A38)), octets: [9], isSent: false)
        return values
    }

    @Test("a read gets the value from its offset on, and Invalid Offset beyond the end (SPEC PER-14, PER-15)")
    func reading() {
        #expect(values.answer(handle, offset: 0) == .value([1, 2, 3]))
        #expect(values.answer(handle, offset: 3) == .value([]))
        #expect(values.answer(handle, offset: 4) == .failure(.invalidOffset))
    }

    @Test("a write at offset 0 replaces the value, one at a later offset changes a part")
    func writing() {
        var values = values
        #expect(values.write([(handle, 1, [8])]).written == [handle])
        #expect(values[handle]?.octets == [1, 8, 3])
        #expect(values.write([(handle, 0, [4]), (handle, 1, [5])]).answer == .success)
        #expect(values[handle]?.octets == [4, 5])
    }

    @Test("of several writes all are carried out or none (SPEC PER-19)")
    func allOrNone() {
        var values = values
        let gap = values.write([(handle, 0, [7]), (other, 2, [7])])
        #expect(gap.answer == .failure(.invalidOffset, handle: other))
        let long = values.write([(handle, 0, [7]), (other, 1, [UInt8](repeating: 0, count: 512))])
        #expect(long.answer == .failure(.invalidAttributeValueLength, handle: other))
        #expect(gap.written.isEmpty && long.written.isEmpty)
        #expect(values[handle]?.octets == [1, 2, 3])
    }
}
