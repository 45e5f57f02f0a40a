// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "firmware-pair",
    dependencies: [
        .package(name: "jelling", path: "../../..")
    ],
    targets: [
        .executableTarget(
            name: "firmware-pair",
            dependencies: [
                .product(name: "BLEFirmware", package: "jelling"), .product(name: "BLESecurity", package: "jelling"),
            ])
    ]
)
