import BLEAppLifecycle
import Foundation
import Testing

@testable import BLEDaemon

@Suite("The configuration file of bled")
struct DaemonSettingsTests {
    private static let whole = """
        {"adapters": ["user:0", "00:1A:7D:DA:71:13"], "users": ["root", 1001], "operators": 0,
         "limits": {"clients": 9, "waitingOctets": 100000}, "log": {"format": "json", "level": "warning"}}
        """

    private func problem(_ text: String) -> String? {
        do {
            _ = try DaemonSettings(file: Data(text.utf8))
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test("all keys are read, and all may be missing")
    func reading() throws {
        let settings = try DaemonSettings(file: Data(Self.whole.utf8))
        #expect(settings.adapters == ["user:0", "00:1A:7D:DA:71:13"] && settings.users == [0, 1001])
        #expect(settings.operatorGroup == 0 && settings.limits.clients == 9)
        #expect(settings.limits.waitingOctets == 100_000 && settings.limits.waitingDiscoveryOctets == 25_000)
        #expect(settings.logFormat == .json && settings.logLevel == .warning)
        #expect(try DaemonSettings(file: Data("{}".utf8)) == DaemonSettings())
    }

    @Test("the overflow area is sent unless the file says otherwise, and its company is that of all apps (SPEC 3.6)")
    func overflow() throws {
        func setting(_ text: String) throws -> OverflowSetting { try DaemonSettings(file: Data(text.utf8)).overflow }
        #expect(try setting("{}") == .on && setting(#"{"overflow": "off"}"#) == .off)
        #expect(try setting(#"{"overflow": "0xFFFF"}"#) == .company(0xFFFF))
        #expect(DaemonSettings().overflow.ofSharedSystem == .company(0x004C))
        #expect(OverflowSetting.off.ofSharedSystem == .off)
    }

    @Test(
        "an error names the line or the key, and what is right",
        arguments: [
            ("{\n\n oops }", "line 3"), ("[]", "not an object in braces"), ("{\"adapter\": []}", "no key ‘adapter’"),
            ("{\"limits\": {\"clients\": 0}}", "‘limits.clients’ is 1 to 10000, not 0"),
            ("{\"limits\": {\"waitingOctets\": 1048576}}", "‘limits.waitingOctets’ is 65536 to 786432"),
            ("{\"Users\": []}", "no key ‘Users’"), ("{\"limits\": {\"Clients\": 1}}", "no key ‘limits.Clients’"),
            ("{\"limits\": {\"all\": 1}}", "no key ‘limits.all’"), ("{\"limits\": []}", "‘limits’ is not an object"),
            ("{\"users\": [true]}", "‘users.1’"),
            ("{\"users\": [-1]}", "‘users.1’"), ("{\"users\": [\"no one of this name\"]}", "no one of this name"),
            ("{\"adapters\": [\"all\", \"sim\"]}", "name no other"), ("{\"log\": {\"format\": \"xml\"}}", "not ‘xml’"),
            (
                "{\"overflow\": \"yes\"}",
                "‘overflow’ is ‘off’, ‘on’ or a company identifier such as ‘0xFFFF’, not ‘yes’"
            ),
            ("{\"overflow\": false}", "‘overflow’ is not a text in quotation marks"),
        ])
    func errors(text: String, words: String) throws {
        let said = try #require(problem(text))
        #expect(said.contains(words), "\(said)")
    }

    @Test("the time of a wake, how long an app may be idle, and what may wait for it are limits of apps (SPEC 5.5)")
    func lives() throws {
        var life = LifecycleSettings()
        life.limit(ClientLimits())
        #expect(life.wakeBudget == .seconds(10) && life.idleSpan == nil)
        #expect((1 << 20...8 << 20).contains(life.queuedOctetLimit))
        #expect(life.queuedOctetLimitOfUser == 4 * life.queuedOctetLimit)
        let text =
            #"{"limits": {"wakeSeconds": 7, "idleSeconds": 0, "queuedOctets": 65536, "queuedOctetsOfUser": 70000}}"#
        life.limit(try DaemonSettings(file: Data(text.utf8)).limits)
        #expect(life.wakeBudget == .seconds(7) && life.idleSpan == .zero)
        #expect(life.queuedOctetLimit == 65536 && life.queuedOctetLimitOfUser == 70000)
        #expect(problem(#"{"limits": {"idleSeconds": -1}}"#)?.contains("‘limits.idleSeconds’ is 0 to 3600") == true)
    }

    @Test("damaged files are errors and nothing worse")
    func damage() {
        var chance = SystemRandomNumberGenerator()
        let whole = Array(Self.whole.utf8)
        for length in whole.indices { _ = try? DaemonSettings(file: Data(whole.prefix(length))) }
        for _ in 0..<5000 {
            var octets = whole
            for _ in 0..<Int.random(in: 1...4, using: &chance) {
                octets[Int.random(in: octets.indices, using: &chance)] = .random(in: .min ... .max, using: &chance)
            }
            _ = try? DaemonSettings(file: Data(octets))
        }
        #expect(problem(String(repeating: "[", count: 60_000)) != nil)
    }
}
