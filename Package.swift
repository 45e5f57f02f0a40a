// swift-tools-version: 6.2
import PackageDescription

/// Settings of every Swift target: language mode 6 comes with the tools version. All code marks what is unsafe.
let strict: [SwiftSetting] = [
    .enableExperimentalFeature("Lifetimes"),
    .enableUpcomingFeature("ExistentialAny"),
    .strictMemorySafety(),
]

/// Modules whose libraries nobody else should have to fetch: clients choose the traits `Services` and `Publishers`. The
/// project's own tests set JELLING_SERVICES=1 instead, which builds nothing else again.
let hasServices = Context.environment["JELLING_SERVICES"] == "1"
let withServices: TargetDependencyCondition? = hasServices ? nil : .when(traits: ["Services"])
let forServices = strict + [hasServices ? .define("SERVICES") : .define("SERVICES", .when(traits: ["Services"]))]
let withPublishers: TargetDependencyCondition? = hasServices ? nil : .when(traits: ["Publishers"])
let forPublishers =
    strict + [hasServices ? .define("PUBLISHERS") : .define("PUBLISHERS", .when(traits: ["Publishers"]))]

let package = Package(
    name: "jelling",
    products: [
        // BLEPresentation makes errors `LocalizedError` and describes values; a client need not import it.
        .library(name: "BLE", targets: ["BLE", "BLEPresentation"]),
        // The same without Foundation, for images that must be small.
        .library(name: "BLEFirmware", targets: ["BLE"]),
        .library(name: "BLEValues", targets: ["BLEValues", "BLEPresentation"]),
        .library(name: "BLESecurity", targets: ["BLESecurity"]),
        .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
        .library(name: "BLEHost", targets: ["BLEHost"]),
        .library(name: "BLEAppLifecycle", targets: ["BLEAppLifecycle"]),
        .library(name: "BLEPackets", targets: ["BLEPackets"]),
        .library(name: "BLECapture", targets: ["BLECapture"]),
        .library(name: "BLEDecoder", targets: ["BLEDecoder"]),
        .library(name: "BLEAssignedNumbers", targets: ["BLEAssignedNumbers"]),
        .library(name: "BLESensors", targets: ["BLESensors"]),
        .library(name: "BLESimulator", targets: ["BLESimulator"]),
        .library(name: "BLETestKit", targets: ["BLETestKit", "BLEPresentation"]),
        .library(name: "CoreBluetoothTestKit", targets: ["CoreBluetoothTestKit"]),
        .library(name: "BLERecording", targets: ["BLERecording"]),
        .library(name: "BLEVirtualTransports", targets: ["BLEVirtualTransports"]),
        .library(name: "BLEDaemonClient", targets: ["BLEDaemonClient"]),
        .library(name: "BLELogging", targets: ["BLELogging"]),
        .library(name: "BLEMetrics", targets: ["BLEMetrics"]),
        .library(name: "BLEServiceLifecycle", targets: ["BLEServiceLifecycle"]),
        .library(name: "CoreBluetoothPublishers", targets: ["CoreBluetoothPublishers"]),
        .plugin(name: "DelegateMethods", targets: ["DelegateMethods"]),
        .executable(name: "bletool", targets: ["bletool"]),
        .executable(name: "bled", targets: ["bled"]),
    ],
    traits: [
        .trait(name: "Services", description: "BLELogging, BLEMetrics and BLEServiceLifecycle, for servers"),
        .trait(name: "Publishers", description: "CoreBluetoothPublishers, for programs that use OpenCombine"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // Not fetched unless something that is built needs them.
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        // The kernel's Bluetooth sockets. Without pkg-config, which would link the library: only its headers are used.
        .systemLibrary(name: "CBluetooth", providers: [.apt(["libbluetooth-dev"])]),
        .target(name: "CLinux", dependencies: ["CBluetooth"]),
        // Declares what CLinux has without importing it, so that no module above asks its clients for C.
        .target(
            name: "BLELinux", dependencies: ["CLinux"],
            swiftSettings: strict + [.enableExperimentalFeature("Extern")]),
        .target(name: "BLEPackets", swiftSettings: strict),
        // Pure, and imports nothing: how texts of others stand before people.
        .target(name: "BLEText", swiftSettings: strict),
        // Pure: the files that people write for the simulator and for bletool.
        .target(name: "BLEJSON", dependencies: ["BLEText"], swiftSettings: strict),
        // Opens every file of state, and those that users name for output; imports nothing of ours.
        .target(name: "BLEStateFiles", swiftSettings: strict),
        .target(name: "BLEServiceManager", swiftSettings: strict),
        .target(name: "BLECapture", dependencies: ["BLEPackets", "BLEStateFiles"], swiftSettings: strict),
        // Names of numbers, apart from BLEPackets so that firmware need not carry them.
        .target(name: "BLEAssignedNumbers", swiftSettings: strict),
        // Pure: what the octets of sensors and of assigned characteristics mean, apart from what firmware carries.
        .target(name: "BLESensors", dependencies: ["BLEPackets", "BLEAssignedNumbers"], swiftSettings: strict),
        // Pure: imports nothing but the modules below it and the standard library.
        .target(
            name: "BLEDecoder",
            dependencies: ["BLEPackets", "BLECapture", "BLEAssignedNumbers", "BLESensors", "BLEText"],
            swiftSettings: strict),
        .target(name: "BLETransport", dependencies: ["BLELinux", "BLEPackets"], swiftSettings: strict),
        // Rounds numbers and imports no C library: a program of nothing but this module would lack libm.
        .target(
            name: "BLESimulator", dependencies: ["BLEPackets", "BLEJSON"], swiftSettings: strict,
            linkerSettings: [.linkedLibrary("m")]),
        .target(name: "BLEHost", dependencies: ["BLEPackets"], swiftSettings: strict),
        // Pure: one description for each message, and its forms: Protocol Buffers, JSON, the schema.
        .target(
            name: "BLEMessages", dependencies: ["BLEAppLifecycle", "BLEHost", "BLEJSON", "BLEPackets"],
            swiftSettings: strict),
        .target(
            name: "BLESecurity",
            dependencies: [
                "BLEHost", "BLELinux", "BLEStateFiles",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "BLE", dependencies: ["BLEHost", "BLETransport"], swiftSettings: strict),
        .target(name: "BLEPresentation", dependencies: ["BLE"], swiftSettings: strict),
        .target(
            name: "BLELogging",
            dependencies: ["BLE", .product(name: "Logging", package: "swift-log", condition: withServices)],
            swiftSettings: forServices),
        .target(
            name: "BLEMetrics",
            dependencies: ["BLE", .product(name: "Metrics", package: "swift-metrics", condition: withServices)],
            swiftSettings: forServices),
        .target(
            name: "BLEServiceLifecycle",
            dependencies: [
                "BLE", .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: withServices),
            ],
            swiftSettings: forServices),
        // Typed values of characteristics, apart from BLE so that firmware need not carry their formats.
        .target(name: "BLEValues", dependencies: ["BLE", "BLESensors"], swiftSettings: strict),
        .target(
            name: "BLEVirtualTransports", dependencies: ["BLESimulator", "BLETransport", "BLECapture"],
            swiftSettings: strict),
        // Pure: from what the radio hears to what the broker is told.
        .target(
            name: "BLEGateway",
            dependencies: ["BLEHost", "BLEPackets", "BLESensors", "BLEAssignedNumbers", "BLEJSON"],
            swiftSettings: strict),
        .target(name: "BLEAppLifecycle", dependencies: ["BLEPackets", "BLEHost"], swiftSettings: strict),
        // What outlives apps, on disk.
        .target(
            name: "BLEAppState", dependencies: ["BLE", "BLEAppLifecycle", "BLEStateFiles"], swiftSettings: strict),
        // Only a module map: the submodules of Apple's framework.
        .target(name: "CoreBluetoothSubmodules"),
        .target(
            name: "CoreBluetooth",
            dependencies: [
                "BLE", "BLEAppLifecycle", "BLEAppState", "BLEAssignedNumbers", "BLEDaemonClient", "BLEMessages",
                "BLESecurity", "BLEText", "BLEVirtualTransports", "CoreBluetoothSubmodules",
            ],
            swiftSettings: strict),
        // Keeps an optimizer from removing the delegate methods that an app's subclasses add.
        .target(name: "DelegateScanner", swiftSettings: strict),
        .executableTarget(name: "delegate-methods", dependencies: ["DelegateScanner"], swiftSettings: strict),
        .plugin(name: "DelegateMethods", capability: .buildTool(), dependencies: ["delegate-methods"]),
        // Simulated devices, faults and a clock for the tests of apps: on BLE, and on Core Bluetooth.
        .target(
            name: "BLETestKit", dependencies: ["BLE", "BLESimulator", "BLETransport"], swiftSettings: strict),
        .target(
            name: "CoreBluetoothPublishers",
            dependencies: [
                "CoreBluetooth", .product(name: "OpenCombine", package: "OpenCombine", condition: withPublishers),
            ],
            swiftSettings: forPublishers),
        .target(
            name: "CoreBluetoothTestKit", dependencies: ["BLE", "BLETestKit", "CoreBluetooth"], swiftSettings: strict),
        .target(
            name: "BLERecording",
            dependencies: ["BLECapture", "BLEHost", "BLEJSON", "BLEMessages", "BLEPackets", "BLEStateFiles"],
            swiftSettings: strict),
        .target(
            name: "BLEDaemon",
            dependencies: [
                "BLE", "BLEAppLifecycle", "BLEAppState", "BLECapture", "BLEHost", "BLEJSON", "BLELinux", "BLEMessages",
                "BLEPackets", "BLEStateFiles", "BLETransport",
            ],
            swiftSettings: strict),
        .target(
            name: "BLEDaemonClient",
            dependencies: ["BLE", "BLEAppLifecycle", "BLEHost", "BLEMessages", "BLEPackets", "BLETransport"],
            swiftSettings: strict),
        .executableTarget(
            name: "bled",
            dependencies: [
                "BLE", "BLEAppState", "BLEDaemon", "BLEDaemonClient", "BLEJSON", "BLEPackets", "BLESecurity",
                "BLEServiceManager", "BLEText", "BLETransport", "BLEVirtualTransports",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "bletool",
            dependencies: [
                "BLE", "BLEAssignedNumbers", "BLECapture", "BLEDaemonClient", "BLEDecoder", "BLEJSON", "BLELinux",
                "BLERecording", "BLESecurity", "BLESensors", "BLEStateFiles", "BLEText", "BLEVirtualTransports",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "simulated-controllers", dependencies: ["BLESimulator", "BLETransport", "BLEPackets"],
            swiftSettings: strict),
        // The samples of Tools/Examples/core-bluetooth, which the tests run.
        .executableTarget(
            name: "heart-rate-central", dependencies: ["CoreBluetooth"],
            path: "Tools/Examples/core-bluetooth/Sources/heart-rate-central", swiftSettings: [.strictMemorySafety()]),
        .executableTarget(
            name: "transfer-peripheral", dependencies: ["CoreBluetooth"],
            path: "Tools/Examples/core-bluetooth/Sources/transfer-peripheral",
            swiftSettings: [.swiftLanguageMode(.v5), .strictMemorySafety()]),
        .executableTarget(
            name: "transfer-central", dependencies: ["CoreBluetooth"],
            path: "Tools/Examples/core-bluetooth/Sources/transfer-central",
            swiftSettings: [.swiftLanguageMode(.v5), .strictMemorySafety()]),
        .executableTarget(
            name: "heart-rate-relay", dependencies: ["CoreBluetooth"],
            path: "Tools/Examples/core-bluetooth/Sources/heart-rate-relay", swiftSettings: [.strictMemorySafety()]),
        .executableTarget(
            name: "protected-reader", dependencies: ["CoreBluetooth"],
            path: "Tools/Examples/core-bluetooth/Sources/protected-reader", swiftSettings: [.strictMemorySafety()]),
        // Killed by the tests while it writes.
        .executableTarget(
            name: "journal-writer", dependencies: ["CoreBluetooth"], path: "Tests/JournalWriter",
            swiftSettings: strict),
        // Offers services from the background, and finds them.
        .executableTarget(
            name: "hidden-service", dependencies: ["CoreBluetooth"],
            path: "Tools/Examples/core-bluetooth/Sources/hidden-service",
            swiftSettings: strict),
        // The bodies of Tools/Fuzz, so that its findings are replayed with the other tests.
        .target(
            name: "FuzzBodies",
            dependencies: [
                "BLEAppLifecycle", "BLECapture", "BLEDaemon", "BLEHost", "BLEMessages", "BLEPackets", "MessageDrawing",
            ],
            path: "Tools/Fuzz/Sources/FuzzBodies", swiftSettings: strict),
        // Messages that are drawn from octets, and the schema that they have: for tests and fuzzers.
        .target(
            name: "MessageDrawing", dependencies: ["BLEMessages"], path: "Tests/MessageDrawing",
            swiftSettings: strict),
        // Engines on one virtual air, for every test that needs more than one machine.
        .target(
            name: "TestSupport", dependencies: ["BLEHost", "BLEPackets", "BLESecurity", "BLESimulator"],
            path: "Tests/TestSupport", swiftSettings: strict),
        .testTarget(name: "FuzzTests", dependencies: ["FuzzBodies"], swiftSettings: strict),
        .testTarget(name: "BLETextTests", dependencies: ["BLEText", "BLEJSON"], swiftSettings: strict),
        .testTarget(name: "BLEStateFilesTests", dependencies: ["BLEStateFiles"], swiftSettings: strict),
        .testTarget(name: "BLEPacketsTests", dependencies: ["BLEPackets"], swiftSettings: strict),
        .testTarget(name: "BLECaptureTests", dependencies: ["BLECapture"], swiftSettings: strict),
        .testTarget(
            name: "BLEDecoderTests", dependencies: ["BLEDecoder", "BLEAssignedNumbers", "BLECapture"],
            swiftSettings: strict),
        .testTarget(
            name: "BLEGatewayTests", dependencies: ["BLEGateway", "BLEHost", "BLESecurity", "BLESensors"],
            swiftSettings: strict),
        .testTarget(
            name: "BLESensorsTests", dependencies: ["BLESensors", "BLEHost", "BLESecurity"], swiftSettings: strict),
        .testTarget(name: "BLETransportTests", dependencies: ["BLETransport"], swiftSettings: strict),
        .testTarget(name: "BLESimulatorTests", dependencies: ["BLESimulator"], swiftSettings: strict),
        .testTarget(
            name: "BLEHostTests",
            dependencies: ["BLEHost", "BLEJSON", "BLEMessages", "BLESimulator", "BLESecurity", "TestSupport"],
            swiftSettings: strict),
        // For Tools/Checks/messages.
        .executableTarget(
            name: "message-echo", dependencies: ["BLEMessages", "MessageDrawing"], path: "Tests/MessageEcho",
            swiftSettings: strict),
        .executableTarget(
            name: "bond-store-writer", dependencies: ["BLESecurity"], path: "Tests/BondStoreWriter",
            swiftSettings: strict),
        .testTarget(
            name: "BLESecurityTests", dependencies: ["BLESecurity", "BLEHost", "bond-store-writer"],
            swiftSettings: strict),
        .testTarget(
            name: "BLEAppLifecycleTests",
            dependencies: [
                "BLEAppLifecycle", "BLEHost", "BLEJSON", "BLEMessages", "BLESecurity", "BLESimulator", "TestSupport",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BLETests", dependencies: ["BLE", "BLEPresentation", "BLEVirtualTransports", "BLESimulator"],
            swiftSettings: strict),
        .testTarget(
            name: "BLEValuesTests", dependencies: ["BLE", "BLEValues", "BLEVirtualTransports", "BLESimulator"],
            swiftSettings: strict),
        .testTarget(
            name: "BLETestKitTests",
            dependencies: [
                "BLE", "BLETestKit", "BLEPresentation", "BLEValues", "CoreBluetooth", "CoreBluetoothTestKit",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "BLEVirtualTransportsTests",
            dependencies: ["BLEVirtualTransports", "BLESimulator", "BLECapture", "BLE"], swiftSettings: strict),
        // A library's delegates and their subclasses, as the tests of delegates meet them.
        .target(
            name: "ForeignDelegates", dependencies: ["CoreBluetooth"], path: "Tests/ForeignDelegates",
            swiftSettings: [.swiftLanguageMode(.v5)], plugins: ["DelegateMethods"]),
        // The same, as an optimizer leaves them: without the plugin, and with it.
        .target(
            name: "OptimizedDelegates", dependencies: ["ForeignDelegates"], path: "Tests/OptimizedDelegates",
            swiftSettings: [.unsafeFlags(["-O"])]),
        .target(
            name: "ScannedDelegates", dependencies: ["ForeignDelegates"], path: "Tests/ScannedDelegates",
            swiftSettings: strict + [.unsafeFlags(["-O"])], plugins: ["DelegateMethods"]),
        .testTarget(name: "DelegateScannerTests", dependencies: ["DelegateScanner"], swiftSettings: strict),
        .testTarget(
            name: "CoreBluetoothTests",
            dependencies: [
                "CoreBluetooth", "ForeignDelegates", "OptimizedDelegates", "ScannedDelegates", "BLE", "BLEAppLifecycle",
                "BLEAppState", "BLEDaemon", "BLEMessages", "BLESecurity", "BLESimulator", "BLEVirtualTransports",
            ],
            swiftSettings: strict, plugins: ["DelegateMethods"]),
        .testTarget(
            name: "BLERecordingTests",
            dependencies: ["BLERecording", "BLEHost", "BLECapture", "BLEMessages", "BLESimulator", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "BLEMessagesTests", dependencies: ["BLEAppLifecycle", "BLEHost", "BLEMessages", "MessageDrawing"],
            swiftSettings: strict),
        .testTarget(
            name: "BLEDaemonTests",
            dependencies: [
                "BLE", "BLEAppLifecycle", "BLEDaemon", "BLEDaemonClient", "BLEMessages", "BLETransport",
                "BLEVirtualTransports",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "bletoolTests",
            dependencies: [
                "bletool", "BLE", "BLEDaemon", "BLEHost", "BLEJSON", "BLESecurity", "BLETransport",
                "BLEVirtualTransports",
            ], swiftSettings: strict),
    ]
)

// The gateway needs libraries that nobody else should have to fetch or install: JELLING_GATEWAY=1 adds it to the
// package.
if Context.environment["JELLING_GATEWAY"] == "1" {
    package.products.append(.executable(name: "jelling-gateway", targets: ["jelling-gateway"]))
    package.dependencies += [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    ]
    package.targets += [
        .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
        .executableTarget(
            name: "jelling-gateway",
            dependencies: [
                "BLE", "BLEDaemonClient", "BLEGateway", "BLEJSON", "BLESecurity", "BLEServiceManager", "BLEStateFiles",
                "BLEText", "BLEVirtualTransports", "CMosquitto",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict),
    ]
}

if hasServices {
    package.targets += [
        .testTarget(
            name: "BLEServicesTests",
            dependencies: [
                "BLE", "BLELogging", "BLEMetrics", "BLEServiceLifecycle", "BLETestKit", "CoreBluetooth",
                "CoreBluetoothPublishers", "CoreBluetoothTestKit",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict)
    ]
}

// Tests reach what is internal also where the optimizer has been: `Tools/release --tests` sets JELLING_TESTABLE. The tests
// themselves are not what is tested, but for the delegates in one target; without optimisation they compile sooner.
if Context.environment["JELLING_TESTABLE"] == "1" {
    for target in package.targets {
        switch target.type {
        case .regular, .executable:
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-enable-testing"])]
        case .test where target.name != "CoreBluetoothTests":
            target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Onone"])]
        default: break
        }
    }
}
