import BLEAppLifecycle
import Testing

@Suite("Names in manifests")
struct ManifestNamesTests {
    private static let keys = ["BundleIdentifier", "UIBackgroundModes", "mayPair", "roles", "user"]

    @Test(
        "a key that differs from a known one in case, or in up to two letters, is wrong, and the right one is named",
        arguments: [
            ("UIBackgroundMode", "UIBackgroundModes"), ("UIBackgrondModess", "UIBackgroundModes"),
            ("MayPair", "mayPair"), ("MAYPAIRS", "mayPair"), ("bundleIdentifier", "BundleIdentifier"),
            ("CFBundleIdentifier", "BundleIdentifier"), ("User", "user"),
        ])
    func mistakes(key: String, meant: String) throws {
        let problem = try #require(ManifestNames.problem(ofKeys: [key], known: Self.keys))
        #expect(problem == "there is no key ‘\(key)’; write ‘\(meant)’")
    }

    @Test("Apple's keys may stand beside the known ones; others with a small letter may not")
    func foreign() throws {
        let apples = [
            "CFBundleName", "UILaunchScreen", "NSBluetoothAlwaysUsageDescription", "LSRequiresIPhoneOS",
            "CFBundleIdentifier",
        ]
        #expect(ManifestNames.problem(ofKeys: Self.keys + apples, known: Self.keys) == nil)
        let problem = try #require(ManifestNames.problem(ofKeys: ["comment"], known: Self.keys))
        #expect(problem.contains("the keys are ‘BundleIdentifier’, ‘UIBackgroundModes’"))
    }

    @Test("a background mode that is nearly one for Bluetooth is wrong; Apple's others are not (SPEC BGX-1)")
    func modes() throws {
        for name in ["bluetooth-perpheral", "bluetooth", "Bluetooth-Central", "blutooth-central", "bluetooth-le"] {
            let problem = try #require(ManifestNames.problem(ofBackgroundModes: ["audio", name]))
            #expect(problem.contains("‘\(name)’") && problem.contains("‘bluetooth-central’, ‘bluetooth-peripheral’"))
        }
        let right = [
            "audio", "fetch", "location", "processing", "remote-notification", "voip", "external-accessory",
            "newsstand-content", "nearby-interaction", "push-to-talk", "bluetooth-central", "bluetooth-peripheral",
        ]
        #expect(ManifestNames.problem(ofBackgroundModes: right) == nil)
    }
}
