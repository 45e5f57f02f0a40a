package main

import (
	"encoding/hex"
	"time"

	"github.com/paypal/gatt"
)

const (
	private  = "6B7A%s-9D1C-4F5E-8A2B-3C4D5E6F7081"
	interval = 300 * time.Millisecond
)

// The services that test_hosts.py expects.
func services(h *host) []*gatt.Service {
	access := gatt.NewService(gatt.UUID16(0x1800))
	access.AddCharacteristic(gatt.UUID16(0x2A00)).SetValue([]byte(name))
	heart := gatt.NewService(gatt.UUID16(0x180D))
	heart.AddCharacteristic(gatt.UUID16(0x2A37)).HandleNotifyFunc(h.notifies("2A37", []byte{0x00, 0x48}))
	heart.AddCharacteristic(gatt.UUID16(0x2A38)).SetValue([]byte{1, 2})

	own := gatt.NewService(uuid("0001"))
	long := own.AddCharacteristic(uuid("0002"))
	long.SetValue(longValue())
	long.AddDescriptor(gatt.UUID16(0x2901)).SetValue([]byte("A long value"))
	kept := []byte{0xAA, 0x55}
	control := own.AddCharacteristic(uuid("0003"))
	control.HandleReadFunc(func(answer gatt.ResponseWriter, request *gatt.ReadRequest) {
		if request.Offset <= len(kept) {
			rest := kept[request.Offset:]
			if len(rest) > request.Cap {
				rest = rest[:request.Cap]
			}
			answer.Write(rest)
		}
	})
	control.HandleWriteFunc(func(_ gatt.Request, value []byte) byte {
		kept = append([]byte(nil), value...)
		say("written", fields{"uuid": "0003", "value": hex.EncodeToString(value)})
		return gatt.StatusSuccess
	})
	return []*gatt.Service{access, heart, own}
}

// A value each 300 ms, as long as the central has subscribed.
func (h *host) notifies(what string, value []byte) func(gatt.Request, gatt.Notifier) {
	return func(_ gatt.Request, notifier gatt.Notifier) {
		say("subscribed", fields{"uuid": what})
		for !notifier.Done() {
			if _, err := notifier.Write(value); err != nil {
				break
			}
			time.Sleep(interval)
		}
		say("unsubscribed", fields{"uuid": what})
	}
}

func (h *host) peripheral() {
	h.device.Handle(
		gatt.CentralConnected(func(c gatt.Central) {
			h.central = c
			say("connected", fields{"address": c.ID()})
		}),
		gatt.CentralDisconnected(func(c gatt.Central) { say("disconnected", fields{"address": c.ID()}) }),
	)
	h.device.Init(func(d gatt.Device, state gatt.State) {
		if state != gatt.StatePoweredOn {
			return
		}
		if err := d.SetServices(services(h)); err != nil {
			fail(err)
		}
		if err := d.AdvertiseNameAndServices(name, []gatt.UUID{gatt.UUID16(0x180D)}); err != nil {
			fail(err)
		}
		say("advertising", nil)
	})
	h.obey(map[string]func(...string) (fields, error){
		"disconnect": func(...string) (fields, error) { return nil, h.central.Close() },
	})
}
