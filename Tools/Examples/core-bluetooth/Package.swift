// swift-tools-version: 6.2
import PackageDescription

// Programs as they are written for Apple's systems: nothing in their sources is about Linux. Two use the language mode
// of older tutorials, the others the current one.
let package = Package(
    name: "core-bluetooth",
    dependencies: [
        .package(name: "jelling", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "heart-rate-central",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety()]),
        .executableTarget(
            name: "heart-rate-relay",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety()]),
        .executableTarget(
            name: "protected-reader",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6), .strictMemorySafety()]),
        .executableTarget(
            name: "hidden-service",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .strictMemorySafety()]),
        .executableTarget(
            name: "transfer-peripheral",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v5), .strictMemorySafety()]),
        .executableTarget(
            name: "transfer-central",
            dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v5), .strictMemorySafety()]),
        // Delegates whose subclasses add methods, in two modules: the plugin keeps an optimizer from removing them.
        .target(
            name: "LayeredBluetooth", dependencies: [.product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v5)], plugins: [.plugin(name: "DelegateMethods", package: "jelling")]),
        .executableTarget(
            name: "layered-central",
            dependencies: ["LayeredBluetooth", .product(name: "CoreBluetooth", package: "jelling")],
            swiftSettings: [.swiftLanguageMode(.v5)], plugins: [.plugin(name: "DelegateMethods", package: "jelling")]),
    ]
)

// A program beside a package that looks for Core Bluetooth without depending on it. The ring `release` builds it when
// the module is there already, which is what such a package has to bear.
if Context.environment["JELLING_NEIGHBOUR"] == "1" {
    package.dependencies.append(.package(path: "../neighbour"))
    package.targets.append(
        .executableTarget(
            name: "neighbour-guest",
            dependencies: [
                .product(name: "CoreBluetooth", package: "jelling"), .product(name: "Neighbour", package: "neighbour"),
            ]))
    // And one of a pure module alone, which has to bring what it links with.
    package.targets.append(
        .executableTarget(
            name: "simulated-air", dependencies: [.product(name: "BLESimulator", package: "jelling")]))
}
