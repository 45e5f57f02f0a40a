// swift-tools-version: 6.2
import PackageDescription

// Programs as they are written for Apple's system: nothing in their sources knows of Linux. Two are in the language mode of
// older tutorials, one is in today's.
let package = Package(
    name: "core-bluetooth",
    dependencies: [
        .package(name: "jelling", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "heart-rate-central",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "heart-rate-relay",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "protected-reader",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "transfer-peripheral",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(
            name: "transfer-central",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v5)]),
    ]
)
