import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { type ComponentPropsWithRef, forwardRef } from 'react';

type Plain<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>;

/** A link to another page of the dashboard. */
export const LinkTo = createLink(
  forwardRef<HTMLAnchorElement, Plain<AnchorProps>>(function LinkTo(props, ref) {
    return <Anchor ref={ref} {...props} />;
  }),
);

/** The same, where it is what one does next. */
export const LinkButton = createLink(
  forwardRef<HTMLAnchorElement, Plain<ButtonProps>>(function LinkButton(props, ref) {
    return <Button component="a" ref={ref} {...props} />;
  }),
);
