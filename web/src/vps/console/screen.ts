import Rfb from '@novnc/novnc';
import { connect, type Open } from './viewer.ts';

const enter = 0xff0d;
const tab = 0xff09;
/** Up to here a sign is its own key; above it is marked as one of Unicode. */
const latin1 = 0x100;
const unicode = 0x01000000;

/** The key that writes a sign, as RFB names keys. */
function keyOf(sign: string): number {
  if (sign === '\n') return enter;
  if (sign === '\t') return tab;
  const point = sign.codePointAt(0) ?? 0;
  return point < latin1 ? point : unicode | point;
}

/** The screen, with its keyboard and mouse. */
export const open: Open = (place, url, told) => {
  // Open is what shows a picture; a connection that was only accepted is not.
  const { socket, end } = connect(url, { ...told, onOpen: () => undefined });
  const rfb = new Rfb(place, socket);
  rfb.scaleViewport = true;
  rfb.background = '#101418';
  rfb.addEventListener('connect', told.onOpen);
  return {
    focus: () => rfb.focus(),
    type: (text) => {
      for (const sign of text.replaceAll('\r\n', '\n')) rfb.sendKey(keyOf(sign), null);
    },
    pressCtrlAltDel: () => rfb.sendCtrlAltDel(),
    close: () => {
      rfb.disconnect();
      end();
    },
  };
};
