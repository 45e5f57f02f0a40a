import BLE
import BLEScripts
import Testing

@testable import bletool

@Suite("Arguments")
struct ArgumentTypesTests {
    @Test("a peer is an address with its type, an address without it, or a name (pain 10)")
    func peers() throws {
        let random = try #require(DeviceAddress("C1:22:33:44:55:66/random"))
        #expect(PeerArgument(argument: "C1:22:33:44:55:66/random") == .address(random))
        let untyped = try #require(DeviceAddress("c1:22:33:44:55:66"))
        #expect(PeerArgument(argument: "c1:22:33:44:55:66") == .untypedAddress(untyped))
        #expect(PeerArgument(argument: "Thermometer 7") == .name("Thermometer 7"))
        #expect(PeerArgument(argument: "name:C1:22:33:44:55") == .name("C1:22:33:44:55"))
        #expect(PeerArgument(argument: "name:C1:22:33:44:55:66") == .name("C1:22:33:44:55:66"))
        #expect(PeerArgument(argument: "name:name:Lamp") == .name("name:Lamp"))
        #expect(PeerArgument(argument: "name:") == nil)
        #expect(PeerArgument(argument: "") == nil)
        #expect(PeerArgument(argument: "c1:22:33:44:55:66")?.asRandom(true) == .address(random))
    }

    @Test("a mistyped address is not taken for a name, and a name that only looks odd is")
    func mistypedAddresses() {
        for wrong in [
            "C0:DE:00:00:00:ZZ", "CO:DE:00:00:00:01", "C0:DE:0:0:0:1", "AA:BB:CC:DD:EE:FF/foo", "AA:BB:CC:DD:EE:FF/",
            "C0:DE:00:00:00:ZZ/random", "11:22:33:44:55", "11:22:33:44:55:GG", "11:22:33:44:55:66/pubic",
            "11:22:33:44:55/random", "11:22:33:44:55:66:77", "11:22:33:44:55:667", "11:22:33:44:55:", "AA::CC:DD:EE:FF",
            "11:22:33:44", ":11:22:33:44:55:66",
        ] {
            #expect(PeerArgument(argument: wrong) == nil, "\(wrong)")
        }
        for name in [
            "Lamp: A:B", "a/b", "12:30", "12:30:45", "living:room:lamp:on:the:left", "Lamp AA:BB:CC", "x:y:z:1",
        ] {
            #expect(PeerArgument(argument: name) == .name(name))
        }
    }

    @Test("a target is UUID, SERVICE/UUID or 0xHANDLE")
    func targets() {
        let rate = BluetoothUUID(UInt16(0x2A37))
        #expect(AttributeTarget(argument: "2A37") == .uuid(rate, service: nil))
        #expect(AttributeTarget(argument: "180d/2a37") == .uuid(rate, service: BluetoothUUID(UInt16(0x180D))))
        #expect(AttributeTarget(argument: "00002a37-0000-1000-8000-00805f9b34fb") == .uuid(rate, service: nil))
        #expect(AttributeTarget(argument: "0x0021") == .handle(AttributeHandle(rawValue: 0x21)))
        #expect(AttributeTarget(argument: "0X1") == .handle(AttributeHandle(rawValue: 1)))
        for wrong in ["", "0x", "0x0000", "0x10000", "0x-1", "2A3", "2A37/", "/2A37", "1/2/3", "Peer"] {
            #expect(AttributeTarget(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test("bytes are hexadecimal of either case, whole octets only")
    func bytes() {
        #expect(Hexadecimal.bytes("0aFF") == [0x0A, 0xFF])
        #expect(Hexadecimal.bytes("0x0aff") == [0x0A, 0xFF])
        #expect(Hexadecimal.bytes("0a ff:01-02") == [0x0A, 0xFF, 1, 2])
        #expect(Hexadecimal.bytes("") == [])
        for wrong in ["0", "0a0", "0 a", "zz", "0x0", "+1", "0a\n"] {
            #expect(Hexadecimal.bytes(wrong) == nil, "\(wrong)")
        }
        #expect(Hexadecimal.text([0x0A, 0xFF]) == "0aff")
    }

    @Test("an octet of a command may be one digit, as hcitool takes it")
    func parameterBytes() {
        #expect(ParameterBytes(argument: "1")?.bytes == [1])
        #expect(ParameterBytes(argument: "0xF")?.bytes == [15])
        #expect(ParameterBytes(argument: "0x0f")?.bytes == [15])
        #expect(ParameterBytes(argument: "0aff")?.bytes == [0x0A, 0xFF])
        for wrong in ["123", "0x123", "g", "+", "0xg", "-1", "+1"] where ParameterBytes(argument: wrong) != nil {
            Issue.record("\(wrong)")
        }
    }

    @Test("seconds are shown as they were written")
    func seconds() {
        #expect(Seconds(argument: "0.3")?.duration.secondsText == "0.3")
        #expect(Seconds(argument: "30")?.duration.secondsText == "30")
        #expect(Duration.zero.secondsText == "0")
    }

    @Test("numbers do not exceed their range, and have no sign")
    func numbers() {
        #expect(Number16(argument: "64")?.value == 64)
        #expect(Number16(argument: "0x0040")?.value == 64)
        #expect(HexNumber(argument: "40")?.value == 64)
        for wrong in ["", "0x", "65536", "-1", "+1", "0x+1", "4 0"] {
            #expect(Number16(argument: wrong) == nil, "\(wrong)")
        }
        #expect(Seconds(argument: "0.5")?.duration == .milliseconds(500))
        for wrong in ["", "soon", "-1", "inf", "nan", "1e300"] { #expect(Seconds(argument: wrong) == nil, "\(wrong)") }
    }

    @Test("a policy for parameters is a word, or bounds in milliseconds")
    func parameterPolicies() {
        let intervals = ConnectionInterval.milliseconds(7.5)...ConnectionInterval.milliseconds(50)
        #expect(ParameterPolicyArgument(argument: "Accept")?.policy == .accept)
        #expect(ParameterPolicyArgument(argument: "reject")?.policy == .reject)
        #expect(ParameterPolicyArgument(argument: "7.5-50")?.policy == .within(intervals, latency: 499))
        #expect(
            ParameterPolicyArgument(argument: "7.5-50,timeout=2000-6000,latency=4")?.policy
                == .within(
                    intervals, latency: 4,
                    supervisionTimeout: .milliseconds(2000)...SupervisionTimeout.milliseconds(6000)))
        for wrong in [
            "", "never", "30", "50-30", "5-50", "30-5000", "30-50,", "30-50,latency", "30-50,latency=500",
            "30-50,latency=-1", "30-50,latency=1,latency=2", "30-50,timeout=6000", "30-50,timeout=50-6000", "nan-50",
            "30-50,pace=1", "30-50-70",
        ] {
            #expect(ParameterPolicyArgument(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test("sizes of a channel are a message and, if wanted, a frame")
    func channelSizes() {
        #expect(ChannelSizes(argument: "4096").map { [$0.mtu, $0.mps ?? 0] } == [4096, 0])
        #expect(ChannelSizes(argument: "64,2044").map { [$0.mtu, $0.mps ?? 0] } == [64, 2044])
        for wrong in ["", "63", "65536", "4096,", "4096,63", "4096,2045", "1,2,3", "-1", "x"] {
            #expect(ChannelSizes(argument: wrong) == nil, "\(wrong)")
        }
    }

    @Test("a name from the air cannot control the terminal")
    func printable() {
        #expect("Heart \u{1B}[31m\u{7}".printable == "Heart \\u{1b}[31m\\u{7}")
        #expect("a\u{202E}b".printable == "a\\u{202e}b")
        #expect("Größe 😀".printable == "Größe 😀")
    }
}
