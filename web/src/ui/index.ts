/**
 * What pages are drawn with, and the only place that they take it from: our own parts, and of the library those that
 * lay out and say something. A page that needs more gets a part here, not the library.
 */
export {
  Alert,
  Anchor,
  Badge,
  Button,
  Center,
  Code,
  Group,
  List as Bullets,
  Loader,
  NativeSelect,
  Paper,
  Progress,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
  useComputedColorScheme,
  VisuallyHidden,
} from '@mantine/core';
export { useDebouncedCallback, useDebouncedValue } from '@mantine/hooks';
export { ActionButton } from './ActionButton.tsx';
export { ActionMenu } from './ActionMenu.tsx';
export { Amount } from './Amount.tsx';
export { AsCode } from './AsCode.tsx';
export { Beside } from './Beside.tsx';
export { BrandPreview, type Draft } from './BrandPreview.tsx';
export { Breaks } from './Breaks.tsx';
export { Card } from './Card.tsx';
export { Confirm } from './Confirm.tsx';
export { ConfirmByName } from './ConfirmByName.tsx';
export { Copy } from './Copy.tsx';
export { Dialog } from './Dialog.tsx';
export { Differs } from './Differs.tsx';
export { Fact } from './Fact.tsx';
export { Choice, Field, FileField, LongField } from './Field.tsx';
export { Fieldset } from './Fieldset.tsx';
export { Form } from './Form.tsx';
export { LinkButton, LinkTo } from './LinkTo.tsx';
export { type Column, List } from './List.tsx';
export { NewPassword } from './NewPassword.tsx';
export { Page } from './Page.tsx';
export { PageTabs } from './PageTabs.tsx';
export { PictureField } from './PictureField.tsx';
export { Detail, Reason, Refusal, useSentence } from './Refusal.tsx';
export { Refusals } from './Refusals.tsx';
export { RowLink } from './RowLink.tsx';
export { Rows, rowsIn } from './Rows.tsx';
export { Section } from './Section.tsx';
export { type Place, Shell } from './Shell.tsx';
export { WithoutCode } from './ShowsCode.tsx';
export { Sortable } from './Sortable.tsx';
export { Spark } from './Spark.tsx';
export { State, type StateName } from './State.tsx';
/** What staff's pages are made of, by the names that the API has for things. */
export * from './staff.ts';
export { Tick } from './Tick.tsx';
export { type Tile, Tiles } from './Tiles.tsx';
export { Trial } from './Trial.tsx';
export type { Chosen, Files, Values } from './typed.ts';
export { useOwnWords } from './useOwnWords.ts';
export { useTheme } from './useTheme.ts';
export { useWanted } from './useWanted.ts';
