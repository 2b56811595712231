/** What a BMC knows of its server, as IPMI's inventory stores it (Platform Management FRU Information Storage Definition): one product area. */
export function productFru(product: { maker: string; model: string; serial: string }): Buffer {
  const text = (value: string) =>
    Buffer.concat([Buffer.from([0xc0 | value.length]), Buffer.from(value, 'latin1')]);
  const fields = [product.maker, product.model, '', '', product.serial, '', ''].map(text);
  const english = 25;
  const body = Buffer.concat([Buffer.from([english]), ...fields, Buffer.from([0xc1])]);
  // Version, length in eights, what is in it, and the sum at the end.
  const eights = Math.ceil((body.length + 3) / 8);
  const area = Buffer.alloc(eights * 8);
  area.set([1, eights]);
  area.set(body, 2);
  const header = Buffer.from([1, 0, 0, 0, 1, 0, 0, 0]);
  return Buffer.concat([summed(header), summed(area)]);
}

/** The last byte makes the sum zero. */
function summed(bytes: Buffer): Buffer {
  const sum = bytes.reduce((a, b) => a + b, 0);
  bytes[bytes.length - 1] = -sum & 0xff;
  return bytes;
}
