import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Applications of clients")
struct ApplicationTests {
    private func object(
        _ path: String, _ interface: String, _ properties: [(name: String, value: BusValue)]
    )
        -> BusValue.Entry
    {
        .init(.path(path), .dictionary(of: "sa{sv}", [.init(.string(interface), .properties(properties))]))
    }

    private func application(_ objects: [BusValue.Entry]) throws -> Application {
        var application = Application(
            number: 0,
            call: BusCall(
                id: CallID(rawValue: 1), sender: ":1.1", user: 0, path: "/org/bluez/hci0", interface: nil,
                member: "RegisterApplication", arguments: [.path("/app"), .properties([])]))
        try application.take(.dictionary(of: "oa{sa{sv}}", objects))
        return application
    }

    @Test("Services, characteristics and descriptors find one another by their paths")
    func objects() throws {
        let application = try application([
            object(
                "/app/s/c/d", InterfaceName.descriptor,
                [
                    ("UUID", .string("2901")), ("Characteristic", .path("/app/s/c")), ("Flags", .strings(["read"])),
                ]),
            object(
                "/app/s/c", InterfaceName.characteristic,
                [
                    ("UUID", .string("2A37")), ("Service", .path("/app/s")),
                    ("Flags", .strings(["read", "encrypt-write", "notify"])),
                ]),
            object("/app/s", InterfaceName.service, [("UUID", .string("180D")), ("Primary", .boolean(true))]),
        ])
        let definition = application.definition(of: application.services[0])
        #expect(definition.uuid == BluetoothUUID(UInt16(0x180D)))
        #expect(definition.characteristics[0].properties == [.read, .write, .notify])
        #expect(definition.characteristics[0].permissions == [.readable, .writeEncryption])
        #expect(definition.characteristics[0].descriptors.map(\.uuid) == [BluetoothUUID(UInt16(0x2901))])
    }

    @Test("Nothing, characteristics without their service and unknown flags are refused")
    func refusals() {
        #expect(throws: BusError.failed("No object received")) { try application([]) }
        let service = object("/app/s", InterfaceName.service, [("UUID", .string("180D"))])
        for properties in [
            [("UUID", .string("2A37")), ("Service", .path("/other")), ("Flags", .strings(["read"]))],
            [("UUID", .string("2A37")), ("Service", .path("/app/s")), ("Flags", .strings(["fly"]))],
            [("UUID", .string("zz")), ("Service", .path("/app/s")), ("Flags", .strings([]))],
        ] as [[(name: String, value: BusValue)]] {
            #expect(throws: BusError.self) {
                try application([service, object("/app/s/c", InterfaceName.characteristic, properties)])
            }
        }
    }

    @Test("Services that include one another are not published for ever")
    func includes() throws {
        let application = try application([
            object("/app/a", InterfaceName.service, [("UUID", .string("180D")), ("Includes", .paths(["/app/b"]))]),
            object("/app/b", InterfaceName.service, [("UUID", .string("180F")), ("Includes", .paths(["/app/a"]))]),
        ])
        #expect(application.nextService == nil)
    }

    @Test("What an application answers is what a central is told")
    func errors() {
        func code(_ name: String, _ text: String = "") -> UInt8 {
            ATTError(BusError(name: "org.bluez.Error." + name, text: text), reading: true).rawValue
        }
        #expect(code("Failed", "0x81") == 0x81 && code("Failed", "no") == 0x80 && code("Failed", "0x05") == 0x80)
        #expect(code("NotPermitted") == 0x02 && code("NotAuthorized") == 0x08 && code("InvalidOffset") == 0x07)
        #expect(code("Nonsense") == 0x0E)
    }
}
