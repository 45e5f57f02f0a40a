import BLEHost
import Testing

@testable import BLEAppLifecycle

@Suite("An app's process alone")
struct AppTests {
    private let settings = LifecycleSettings()
    private var app = App(AppManifest(app: Alone.app, backgroundModes: .central))

    private static func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

    @Test("an app that overruns its wake is warned, then frozen and delayed; after several overruns it is terminated")
    mutating func budget() {
        app.launched(foreground: nil, at: .zero)
        #expect(app.isWoken && app.deadline(settings) == Self.at(10))
        #expect(app.checkBudget(at: Self.at(9), settings) == .none)
        #expect(app.checkBudget(at: Self.at(10), settings) == .expiring(strikes: 1))
        #expect(!app.isFreezeDue(at: Self.at(11), settings) && app.isFreezeDue(at: Self.at(12), settings))
        app.freeze(at: Self.at(12), settings)
        #expect(!app.wake(at: Self.at(13)) && !app.isWakeDue(at: Self.at(13)))
        #expect(app.isWakeDue(at: Self.at(14)) && app.wake(at: Self.at(14)))
        #expect(app.checkBudget(at: Self.at(24), settings) == .expiring(strikes: 2))
        app.freeze(at: Self.at(26), settings)
        #expect(app.wake(at: Self.at(30)) == true)
        #expect(app.checkBudget(at: Self.at(40), settings) == .terminated(strikes: 3))
    }

    @Test("a manifest may give an app another budget")
    mutating func ownBudget() {
        app.manifest.wakeBudget = .seconds(2)
        app.launched(foreground: nil, at: .zero)
        #expect(app.deadline(settings) == Self.at(2) && app.checkBudget(at: Self.at(1), settings) == .none)
        #expect(app.checkBudget(at: Self.at(2), settings) == .expiring(strikes: 1))
        #expect(!app.isFreezeDue(at: Self.at(3), settings) && app.isFreezeDue(at: Self.at(4), settings))
    }

    @Test("an app is relaunched for preserved work, but not if Bluetooth was switched off meanwhile")
    mutating func relaunch() {
        let options = LaunchOptions(centrals: ["c"])
        #expect(app.relaunch(LaunchOptions(), at: .zero, settings) == false)
        #expect(app.relaunch(options, at: .zero, settings) && !app.relaunch(options, at: .zero, settings))
        app.launched(foreground: nil, at: Self.at(1))
        #expect(app.launchOptions == options)
        app.ended()
        app.powerSwitched()
        #expect(!app.relaunch(options, at: Self.at(2), settings) && app.launchOptions.isEmpty)
        app.launched(foreground: 1, at: Self.at(3))
        app.ended()
        #expect(app.relaunch(options, at: Self.at(4), settings) == true)
    }

    @Test("a launch without an answer counts as an overrun and is tried again")
    mutating func patience() {
        let options = LaunchOptions(centrals: ["c"])
        #expect(app.relaunch(options, at: .zero, settings) == true)
        app.checkRelaunch(at: Self.at(19), settings)
        #expect(app.deadline(settings) == Self.at(20))
        app.checkRelaunch(at: Self.at(20), settings)
        #expect(app.state == .notRunning && app.deadline(settings) == Self.at(22))
        #expect(app.isWakeDue(at: Self.at(22)) && app.relaunch(options, at: Self.at(22), settings))
    }

    @Test("events of a role reach an app in the foreground, and in the background if it runs and declared the mode")
    mutating func receives() {
        app.launched(foreground: 1, at: .zero)
        #expect(app.receives(.central) && app.receives(.peripheral))
        app.enterBackground(until: Self.at(10))
        #expect(app.receives(.central) && !app.receives(.peripheral))
        app.freeze(at: Self.at(10), settings)
        #expect(!app.receives(.central) && app.hasProcess && !app.runs)
    }
}
