/// The apps that are known, in the order in which they became known.
struct AppTable {
    /// The index identifies an app while it is known. The place of one that is forgotten goes to another app, so that no
    /// index changes.
    private var apps: [App] = []
    /// The places that the next apps get, in this order. Until then they are as they were.
    private(set) var freePlaces: [Int] = []
    private var lastForeground: UInt64 = 0

    var indices: Range<Int> { apps.indices }

    subscript(index: Int) -> App {
        _read { yield apps[index] }
        _modify { yield &apps[index] }
    }

    func index(of id: AppID) -> Int? { apps.firstIndex { $0.id == id } }

    /// The index of an app, which becomes known if it is not.
    mutating func known(_ id: AppID) -> Int {
        if let index = index(of: id) {
            freePlaces.removeAll { $0 == index }
            return index
        }
        let app = App(AppManifest(app: id))
        let place = freePlaces.isEmpty ? apps.count : freePlaces.removeFirst()
        if place < apps.count { apps[place] = app } else { apps.append(app) }
        return place
    }

    /// Gives the place of an app to the next one that becomes known.
    mutating func free(_ index: Int) { freePlaces.append(index) }
    func isFree(_ index: Int) -> Bool { freePlaces.contains(index) }

    /// The number of the next app that comes to the foreground.
    mutating func nextForeground() -> UInt64 {
        lastForeground += 1
        return lastForeground
    }
}
