import BLE

@main
struct Central {
    static func main() async {}
}
